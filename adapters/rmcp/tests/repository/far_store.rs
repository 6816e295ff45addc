//! A store far away: connecting to it takes longer than a command may.

use std::time::{Duration, Instant};

use sealwax_rmcp::ledger::Redis;
use sealwax_rmcp::{Guard, from_claims};
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;

use crate::clients::{call, client, state};
use crate::ledger::sure;
use crate::serving::{Refusals, fresh};
use crate::tally::{another_second, one_clock, replica};
use crate::valkey::Valkey;

/// Returns the port of a proxy that delays everything: `round_trip` is the way there and back.
pub async fn far(port: u16, round_trip: Duration) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let near = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((here, _)) = listener.accept().await {
            let there = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
            let ((here_in, here_out), (there_in, there_out)) =
                (here.into_split(), there.into_split());
            tokio::spawn(delay(here_in, there_out, round_trip / 2));
            tokio::spawn(delay(there_in, here_out, round_trip / 2));
        }
    });
    near
}

async fn delay(mut from: OwnedReadHalf, mut to: OwnedWriteHalf, by: Duration) {
    let (tell, mut told) = mpsc::unbounded_channel::<(Instant, Vec<u8>)>();
    tokio::spawn(async move {
        while let Some((at, bytes)) = told.recv().await {
            tokio::time::sleep_until(at.into()).await;
            if to.write_all(&bytes).await.is_err() {
                return;
            }
        }
    });
    let mut bytes = vec![0; 1 << 16];
    while let Ok(read @ 1..) = from.read(&mut bytes).await {
        let at = Instant::now() + by;
        if tell.send((at, bytes[..read].to_vec())).is_err() {
            return;
        }
    }
}

#[tokio::test]
async fn it_is_served_though_no_command_has_the_time_to_connect() {
    served_from(Duration::from_millis(200)).await;
}

/// A connection takes three round trips, and a command one: together more than the 300 ms of a command.
#[tokio::test]
async fn it_is_served_though_no_command_has_the_time_to_connect_and_for_an_answer() {
    served_from(Duration::from_millis(80)).await;
}

async fn served_from(round_trip: Duration) {
    let valkey = Valkey::start();
    let url = format!("redis://127.0.0.1:{}/", far(valkey.port, round_trip).await);
    let refusals = Refusals::default();
    let guard = Guard::builder(fresh(), from_claims)
        .on_refused(refusals.hook())
        .ledger_with(Redis::open(&url).unwrap(), one_clock(""));
    let served = replica(guard).await;
    let alice = client(&served.uri, "alice").await;
    let mut tries = 0;
    loop {
        let sealed = state(&alice, call("sure", json!({}))).await;
        if sure(&alice, &sealed).await.is_ok() {
            break;
        }
        tries += 1;
        assert!(tries < 30, "{:?}", refusals.take());
    }
    // From then on one round trip is enough.
    another_second().await;
    refusals.take();
    for _ in 0..5 {
        let sealed = state(&alice, call("sure", json!({}))).await;
        assert!(sure(&alice, &sealed).await.is_ok(), "{:?}", refusals.take());
    }
}
