//! The transcripts of tests/vectors/guard.json, driven through the engine alone; guard.py beside them says
//! what they mean.

use serde_json::Value;

use crate::messages;
use crate::world::World;

fn transcripts() -> Value {
    serde_json::from_str(include_str!("../../../tests/vectors/guard.json")).unwrap()
}

#[test]
fn every_transcript_comes_out_as_it_says() {
    let mut file = transcripts();
    let mut wrong = Vec::new();
    // Each world has a copy of the rest.
    let all = file["transcripts"].take();
    let all = all.as_array().unwrap();
    assert!(all.len() >= 300);
    for transcript in all {
        let mut world = World::new(&file, &transcript["settings"]);
        if let Err(why) = messages::play_all(&mut world, &transcript["events"]) {
            wrong.push(format!("{}, {why}", transcript["name"]));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}
