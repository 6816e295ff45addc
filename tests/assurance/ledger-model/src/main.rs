//! Explores the scenarios: `ledger-model [small|large] [SECONDS] [NAME]`. SECONDS are for each.

use std::process::ExitCode;
use std::time::Duration;

use ledger_model::scenarios;

fn main() -> ExitCode {
    let args: Vec<_> = std::env::args().skip(1).collect();
    let large = args.first().is_some_and(|size| size == "large");
    let seconds = args
        .get(1)
        .and_then(|seconds| seconds.parse().ok())
        .unwrap_or(600);
    let only = args.get(2).map(String::as_str).unwrap_or_default();
    let (mut wrong, mut states) = (0, 0);
    let each = [
        scenarios::all(large),
        scenarios::faults(),
        scenarios::limits(),
    ]
    .concat();
    for scenario in each
        .into_iter()
        .filter(|scenario| scenario.name.contains(only))
    {
        let found = scenario.explore(Duration::from_secs(seconds));
        states += found.states;
        let fault = scenario
            .fault
            .map(|fault| format!(", {fault:?}"))
            .unwrap_or_default();
        let rest = if found.whole { "" } else { ", NOT TO THE END" };
        println!(
            "{}{fault}: {} states, depth {}, {:.1} s{rest}; {}",
            scenario.name,
            found.states,
            found.depth,
            found.seconds,
            found.verdicts.join(" "),
        );
        for (promise, history) in &found.broken {
            println!("  {promise} breaks:");
            for action in history {
                println!("    {action:?}");
            }
        }
        if !scenario.is_as_expected(&found) {
            println!("  NOT AS EXPECTED: {:?}", scenario.breaks);
        }
        wrong += u32::from(!scenario.is_as_expected(&found));
    }
    println!("{states} states; {wrong} scenarios not as expected");
    ExitCode::from(u8::from(wrong > 0))
}
