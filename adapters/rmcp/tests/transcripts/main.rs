//! The transcripts of tests/vectors/guard.json on a real server of rmcp behind the guard: its HTTP service in
//! process, with the layer around it where a transcript says so, and streams of lines. guard.py beside them
//! says what they mean. How a transcript is read is the engine's own reader's, in tests/guard.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

#[path = "../../../../tests/guard/matching.rs"]
mod matching;
mod messages;
mod over_http;
mod over_streams;
mod script;
mod server;
#[path = "../../../../tests/guard/world.rs"]
#[expect(dead_code, reason = "the engine's own guard is not asked here")]
mod world;

use serde_json::Value;

#[tokio::test]
async fn every_transcript_comes_out_as_it_says() {
    let file = include_str!("../../../../tests/vectors/guard.json");
    let file: Value = serde_json::from_str(file).unwrap();
    let (mut played, mut wrong) = (0, Vec::new());
    for transcript in file["transcripts"].as_array().unwrap() {
        if transcript["not"].get("rust").is_some() {
            continue;
        }
        played += 1;
        let mut running = server::Running::new(&file, &transcript["settings"]);
        for (at, event) in transcript["events"].as_array().unwrap().iter().enumerate() {
            let found = running.play(event).await;
            let world = &mut running.stage.lock().world;
            if let Err(why) = matching::compare(world, event, &found) {
                wrong.push(format!("{}, event {at}: {why}", transcript["name"]));
                break;
            }
        }
    }
    assert!(played >= 200);
    assert!(
        wrong.is_empty(),
        "{} of {played} wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}
