//! In a shell: pipes that are closed, disks that are full, completions and manual pages.

use std::process::{Command, Output};

use serde_json::Value;

use super::{KEYS, refused, sealwax, stdout};

const SEALWAX: &str = env!("CARGO_BIN_EXE_sealwax");

/// Runs a script in which `sealwax` is the command, and fails where any part of a pipe does.
fn bash(script: &str) -> Output {
    let folder = std::path::Path::new(SEALWAX).parent().unwrap();
    let path = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap());
    let script = format!("set -o pipefail\n{script}");
    Command::new("bash")
        .args(["-c", &script])
        .env("PATH", path)
        .env("SEALWAX_KEYS", KEYS)
        .output()
        .unwrap()
}

#[track_caller]
fn quiet(output: &Output, stdout: &str) {
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert_eq!(String::from_utf8_lossy(&output.stdout), stdout);
    assert_eq!(output.status.code(), Some(0));
}

/// More than a pipe holds, so that a write comes after the reader has gone.
#[test]
fn a_reader_that_has_seen_enough_is_no_failure() {
    quiet(
        &bash("sealwax keygen --count 60000 | head -n 1 | tr -d 'A-Za-z0-9_-' | wc -l"),
        "1\n",
    );
    let seal = "sealwax seal --kind session --audience a --anonymous --payload-limit 1000000";
    let open = "sealwax open --kind session --audience a --anonymous --payload-limit 1000000";
    quiet(
        &bash(&format!(
            "head -c 900000 /dev/zero | tr '\\0' x | {seal} | {open} | head -c 3"
        )),
        "xxx",
    );
    for help in ["--help", "seal --help", "completions bash", "man seal"] {
        quiet(&bash(&format!("sealwax {help} | true")), "");
    }
}

#[test]
fn who_reads_no_errors_reads_the_status() {
    let output = bash("sealwax inspect nonsense 2> >(true); echo $?");
    quiet(&output, "1\n");
    let output = bash("exec 2>&-; sealwax inspect nonsense; echo $?");
    quiet(&output, "1\n");
}

/// A failed write must be reported, even of output without a line ending.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_a_failure() {
    for command in [
        "sealwax keygen",
        "echo -n x | sealwax seal --kind session --audience a --anonymous | \
         sealwax open --kind session --audience a --anonymous",
        "sealwax completions fish",
        "sealwax man",
    ] {
        let output = bash(&format!("{command} > /dev/full"));
        assert_eq!(output.status.code(), Some(2), "{command}");
        let message = String::from_utf8_lossy(&output.stderr);
        assert!(message.contains("No space left"), "{command}: {message}");
    }
}

#[test]
fn bash_completes_commands_flags_and_values() {
    let complete = |line: &str| {
        let words: Vec<_> = line.split(' ').collect();
        let last = words.len() - 1;
        let script = format!(
            "source <(sealwax completions bash) || exit 3\n\
             complete -p sealwax > /dev/null || exit 4\n\
             COMP_WORDS=({}) COMP_CWORD={last} COMP_LINE={line:?} COMP_POINT={}\n\
             _sealwax sealwax {:?} {:?}\n\
             echo \"${{COMPREPLY[*]}}\"",
            words
                .iter()
                .map(|word| format!("{word:?} "))
                .collect::<String>(),
            line.len(),
            words[last],
            words[last - 1],
        );
        stdout(&bash(&script))
    };
    for (line, completed) in [
        ("sealwax ins", "inspect\n"),
        ("sealwax ledger rev", "revoke\n"),
        ("sealwax seal --payload", "--payload-limit\n"),
        ("sealwax seal --kind request", "request-state\n"),
        ("sealwax session-id ver", "verify\n"),
    ] {
        assert_eq!(complete(line), completed, "{line}");
    }
}

#[test]
fn every_shell_has_completions() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = stdout(&sealwax(&["completions", shell], ""));
        assert!(
            script.contains("session-id") && script.contains("payload-limit"),
            "{shell}"
        );
    }
}

#[test]
fn every_command_has_a_manual_page() {
    let groff = Command::new("groff").arg("--version").output().is_ok();
    let all = include_str!("../../commands.json");
    let all: Value = serde_json::from_str(all).unwrap();
    let mut commands = vec![vec![], vec!["completions"], vec!["man"]];
    for command in all["commands"].as_array().unwrap() {
        let name = command["name"].as_str().unwrap();
        commands.push(vec![name]);
        for inner in command["commands"].as_array().into_iter().flatten() {
            commands.push(vec![name, inner["name"].as_str().unwrap()]);
        }
    }
    for command in commands.iter().map(Vec::as_slice) {
        let page = stdout(&sealwax(&[&["man"], command].concat(), ""));
        let name = [&["sealwax"], command].concat();
        assert!(
            page.contains(&format!("\n.TH {} 1 ", name.join("-"))),
            "{page}"
        );
        let said = stdout(&sealwax(&[command, &["--help"]].concat(), ""));
        let flags = |line: &&str| line.trim_start().starts_with("--");
        for line in said.lines().filter(flags) {
            let flag = line.split_whitespace().next().unwrap().replace('-', "\\-");
            assert!(page.contains(&flag), "{command:?}: {flag}");
        }
        if groff {
            let warned = bash(&format!(
                "sealwax man {} | groff -man -Tutf8 -ww 2>&1 >/dev/null",
                command.join(" ")
            ));
            quiet(&warned, "");
        }
    }
    let none = sealwax(&["man", "nonsense"], "");
    refused(
        &none,
        2,
        "invalid_argument: COMMAND: expected a command of sealwax",
    );
    let page = stdout(&sealwax(&["man"], ""));
    assert!(
        page.contains("Exit status: 0 for success; 1 when"),
        "{page}"
    );
}
