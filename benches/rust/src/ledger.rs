//! What an admission costs, beside the least that could do it: `SET NX EX` by the same client at the same store.
//! A JSON object a line (benches/ledger/run.py says which).

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use redis::aio::MultiplexedConnection;
use sealwax_rmcp::ledger::{Command, Ledger as _, Redis, Script};
use serde_json::json;
use tokio::runtime::Builder;

const CALLS: u32 = 50;
const CLOCK_TOLERANCE: u64 = 1;
const LIFE: u64 = 900;

/// With the ledger at `store`, which nobody else writes to.
pub fn run(store: &str, quick: bool) {
    let turns = if quick { 10 } else { 100 };
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(admission(store, turns));
}

async fn admission(store: &str, turns: usize) {
    eprintln!("rust admission");
    let client = redis::Client::open(store).unwrap();
    let mut floor = client.get_multiplexed_async_connection().await.unwrap();
    let ledger = Redis::new(client);
    let mut keys = Keys::default();
    let open = Command::new(
        Script::Open,
        vec![keys.of("began"), keys.of("fence")],
        vec![],
    );
    assert_eq!(ledger.run(&open).await.unwrap()[0], "ok");
    // What is made from then on is known.
    tokio::time::sleep(Duration::from_secs(CLOCK_TOLERANCE + 1)).await;

    let (mut admit, mut set) = (vec![], vec![]);
    // The first is not counted: it is warming up.
    for turn in 0..=turns {
        let (admitted, was_set);
        if turn % 2 == 0 {
            admitted = admissions(&ledger, &mut keys).await;
            was_set = sets(&mut floor, &mut keys).await;
        } else {
            was_set = sets(&mut floor, &mut keys).await;
            admitted = admissions(&ledger, &mut keys).await;
        }
        if turn > 0 {
            admit.push(admitted);
            set.push(was_set);
        }
    }
    println!(
        "{}",
        json!({
            "question": "admission", "language": "rust", "case": "redis", "base": "set",
            "times": { "set": set, "admit": admit },
        })
    );
}

/// Keys as a guard makes them, always new ones.
#[derive(Default)]
struct Keys(u64);

impl Keys {
    fn of(&self, rest: &str) -> String {
        format!("swl1:{{{:016x}}}:{rest}", 0x2_8057)
    }

    fn id(&mut self) -> String {
        self.0 += 1;
        format!("{:032x}", self.0)
    }
}

async fn admissions(ledger: &Redis, keys: &mut Keys) -> Vec<u64> {
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap()
        .as_secs();
    let mut commands = vec![];
    for _ in 0..CALLS {
        let id = keys.id();
        let told = [
            keys.of("began"),
            keys.of("fence"),
            keys.of(&format!("p:{:032x}", 7)),
            keys.of(&format!("u:r:{id}")),
            keys.of(&format!("e:r:{id}")),
        ];
        let args = [
            id[16..].to_owned(),
            CLOCK_TOLERANCE.to_string(),
            "0".to_owned(),
            "once".to_owned(),
            now.to_string(),
            now.to_string(),
            (now + LIFE).to_string(),
            String::new(),
            String::new(),
            String::new(),
        ];
        commands.push(Command::new(Script::Admit, told.to_vec(), args.to_vec()));
    }
    let mut times = vec![];
    for command in &commands {
        let start = Instant::now();
        let reply = ledger.run(command).await.unwrap();
        times.push(start.elapsed().as_nanos() as u64);
        assert_eq!(reply, ["ok", "0"]);
    }
    times
}

async fn sets(connection: &mut MultiplexedConnection, keys: &mut Keys) -> Vec<u64> {
    let mut asked = vec![];
    for _ in 0..CALLS {
        let id = keys.id();
        asked.push((keys.of(&format!("u:f:{id}")), id[16..].to_owned()));
    }
    let mut times = vec![];
    for (key, value) in &asked {
        let start = Instant::now();
        let mut set = redis::cmd("SET");
        set.arg(key).arg(value).arg("NX").arg("EX").arg(LIFE);
        let reply: String = set.query_async(connection).await.unwrap();
        times.push(start.elapsed().as_nanos() as u64);
        assert_eq!(reply, "OK");
    }
    times
}
