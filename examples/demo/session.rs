//! A replica in Rust: `open`, or `renew PAYLOAD`, for the session whose metadata is on stdin. It writes the client's answer
//! to stdout, and the log to stderr.

use std::error::Error;
use std::{env, io};

use sealwax::{Codec, Principal, SessionMetadata};
use sealwax_mcp::Profile;

fn main() -> Result<(), Box<dyn Error>> {
    let codec = Codec::from_env("https://mcp.example.com")?;
    let user = codec.view(&Principal::subject(env::var("DEMO_USER")?))?;
    let sessions = user.sessions();

    let metadata = SessionMetadata::from_json(&io::read_to_string(io::stdin())?)?;
    let session = sessions.open(&metadata).unwrap_or_else(|refused| {
        eprintln!("{}: {refused}", refused.code());
        println!("{}", Profile::DataLayer.answer(&refused, None).to_json());
        std::process::exit(1)
    });
    let state = session.state();
    eprintln!(
        "{} (generation {}, needs_reseal {})",
        String::from_utf8_lossy(state.payload()),
        state.generation(),
        state.needs_reseal()
    );
    if let [_, command, payload] = &env::args().collect::<Vec<_>>()[..]
        && command == "renew"
    {
        println!(
            "{}",
            sessions.renew(&session, payload.as_bytes())?.to_json()
        );
    }
    Ok(())
}
