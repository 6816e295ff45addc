//! The cases that the command of every package passes: tests/command.json.

use std::fs;
use std::path::Path;

use serde_json::Value;

use super::command;

#[test]
fn the_cases_of_every_package() {
    let cases: Value = serde_json::from_str(include_str!("../../../tests/command.json")).unwrap();
    let cases = cases["cases"].as_array().unwrap();
    assert_eq!(cases.len(), 25);
    for (at, case) in cases.iter().enumerate() {
        let folder = std::env::temp_dir().join(format!("sealwax-case-{}-{at}", std::process::id()));
        fs::create_dir(&folder).unwrap();
        set_up(&folder, case);
        let (mut before, mut first) = (Vec::new(), None);
        for run in case["runs"].as_array().unwrap() {
            let stdin = match run["stdin"].as_str() {
                Some("@stdout") => before.clone(),
                Some("@sealed") => first.clone().unwrap(),
                text => text.unwrap_or_default().into(),
            };
            before = passes(&folder, run, &stdin);
            first.get_or_insert_with(|| before.clone());
        }
        check_files(&folder, case);
        fs::remove_dir_all(&folder).unwrap();
    }
}

fn set_up(folder: &Path, case: &Value) {
    for (name, text) in members(&case["files"]) {
        fs::write(folder.join(name), text.as_str().unwrap()).unwrap();
        #[cfg(unix)]
        {
            use std::os::unix::fs::{PermissionsExt as _, chown};
            if let Some(owner) = owner(case, name) {
                // Only the superuser may.
                let _ = chown(folder.join(name), Some(owner), Some(owner));
            }
            let mode = case["modes"][name].as_str().unwrap_or("600");
            let mode = fs::Permissions::from_mode(u32::from_str_radix(mode, 8).unwrap());
            fs::set_permissions(folder.join(name), mode).unwrap();
        }
    }
    for (name, target) in members(&case["links"]) {
        #[cfg(unix)]
        std::os::unix::fs::symlink(target.as_str().unwrap(), folder.join(name)).unwrap();
    }
}

/// Makes a run, and returns what it printed.
fn passes(folder: &Path, run: &Value, stdin: &[u8]) -> Vec<u8> {
    let args: Vec<_> = texts(&run["args"]);
    let mut program = command(&args);
    program.current_dir(folder);
    for (name, value) in members(&run["env"]) {
        program.env(name, value.as_str().unwrap());
    }
    let output = super::given(program, stdin);
    let [stdout, stderr] =
        [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text));
    let status = run["status"].as_i64().unwrap_or_default();
    assert_eq!(
        output.status.code().map(i64::from),
        Some(status),
        "{run}: {stderr}"
    );
    if let Some(expected) = run["stdout"].as_str() {
        assert_eq!(stdout, expected, "{run}");
    }
    for part in texts(&run["has"]) {
        assert!(
            stdout.contains(&part.replace("{program}", "sealwax")),
            "{run}: {stdout}"
        );
    }
    for part in texts(&run["stderr"]) {
        assert!(
            stderr.contains(&part.replace("{program}", "sealwax")),
            "{run}: {stderr}"
        );
    }
    if let Some(never) = run["never"].as_str() {
        assert!(!stderr.contains(never), "{run}: {stderr}");
    }
    match status {
        0 => assert_eq!(stderr, "", "{run}"),
        _ => assert_eq!(stdout, "", "{run}"),
    }
    output.stdout
}

#[cfg(unix)]
fn owner(case: &Value, name: &str) -> Option<u32> {
    case["owners"][name]
        .as_u64()
        .map(|owner| u32::try_from(owner).unwrap())
}

fn check_files(folder: &Path, case: &Value) {
    #[cfg(unix)]
    for (name, _) in members(&case["owners"]) {
        use std::os::unix::fs::MetadataExt as _;
        let (found, own) = (fs::metadata(folder.join(name)), fs::metadata(folder));
        let (found, own) = (found.unwrap(), own.unwrap().uid());
        assert!(own != 0 || Some(found.uid()) == owner(case, name), "{case}");
    }
    for (name, expected) in members(&case["after"]) {
        let path = folder.join(name);
        #[cfg(unix)]
        if let Some(mode) = expected["mode"].as_str() {
            use std::os::unix::fs::PermissionsExt as _;
            let found = fs::metadata(&path).unwrap().permissions().mode() & 0o777;
            assert_eq!(format!("{found:o}"), mode, "{case}");
        }
        let text = || fs::read_to_string(&path).unwrap();
        if let Some(expected) = expected["text"].as_str() {
            assert_eq!(text(), expected, "{case}");
        }
        if let Some(lines) = expected["lines"].as_u64() {
            assert_eq!(text().lines().count() as u64, lines, "{case}");
        }
        for part in texts(&expected["has"]) {
            assert!(text().contains(part), "{case}");
        }
    }
    // Nothing else is left; a store has files of its own.
    let known = ["files", "links", "after"].map(|of| members(&case[of]).map(|(name, _)| name));
    let known: Vec<_> = known.into_iter().flatten().collect();
    for found in fs::read_dir(folder).unwrap() {
        let name = found.unwrap().file_name().into_string().unwrap();
        assert!(
            known.contains(&&name) || name.starts_with("ledger.db"),
            "{case}: {name}"
        );
    }
}

fn members(object: &Value) -> impl Iterator<Item = (&String, &Value)> {
    object.as_object().into_iter().flatten()
}

fn texts(array: &Value) -> Vec<&str> {
    let items = array.as_array().into_iter().flatten();
    items.map(|item| item.as_str().unwrap()).collect()
}
