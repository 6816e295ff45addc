//! The transcripts of tests/vectors/guard.json on a server of rmcp behind the guard: its HTTP service in process, with the
//! layer around it where a transcript asks for it, and streams of lines. guard.py beside them defines the format.

use serde_json::Value;

use crate::scripted_server::Running;

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
        let mut running = Running::new(&file, &transcript["settings"]);
        if let Err(why) = running.play(&transcript["events"]).await {
            wrong.push(format!("{}, {why}", transcript["name"]));
        }
    }
    assert!(played >= 300);
    assert!(
        wrong.is_empty(),
        "{} of {played} wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}
