//! Reads options. `commands.json` says which there are; what they may hold is said here.

use std::collections::BTreeMap;
use std::time::Duration;

use sealwax::{Error, Principal};

use crate::duration;
use crate::failure::Failure;

/// The largest clock tolerance, in seconds.
const MOST_CLOCK_TOLERANCE: u64 = 300;

#[derive(Clone, Copy)]
pub(crate) struct Options<'a>(pub &'a BTreeMap<String, String>);

impl<'a> Options<'a> {
    pub fn text(self, name: &str) -> Option<&'a str> {
        self.0.get(name).map(String::as_str)
    }

    pub fn has(self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    pub fn required(self, name: &str) -> Result<&'a str, Failure> {
        self.text(name)
            .ok_or_else(|| wrong(name, "required, but not given"))
    }

    pub fn not_empty(self, name: &str) -> Result<Option<&'a str>, Failure> {
        match self.text(name) {
            Some("") => Err(wrong(name, "expected a text that is not empty")),
            text => Ok(text),
        }
    }

    pub fn number(self, name: &str, least: u64, most: u64) -> Result<Option<u64>, Failure> {
        let Some(text) = self.text(name) else {
            return Ok(None);
        };
        let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        match text.parse() {
            Ok(number) if digits && (least..=most).contains(&number) => Ok(Some(number)),
            _ => {
                let why = format!("expected a number of {least} to {most}, found {text:?}");
                Err(wrong(name, &why))
            }
        }
    }

    /// Returns a duration in seconds.
    pub fn duration(self, name: &str, least: u64, most: u64) -> Result<Option<u64>, Failure> {
        let Some(text) = self.text(name) else {
            return Ok(None);
        };
        let seconds = duration::seconds(text).ok_or_else(|| wrong(name, duration::EXPECTED))?;
        if seconds < least {
            return Err(wrong(name, &format!("expected {least} second or more")));
        }
        if seconds > most {
            return Err(wrong(name, &format!("expected {most} seconds at most")));
        }
        Ok(Some(seconds))
    }

    /// Returns by how much clocks may differ.
    pub fn clock_tolerance(self) -> Result<Option<Duration>, Failure> {
        let seconds = self.duration("clock-tolerance", 0, u64::MAX)?;
        if seconds.is_some_and(|seconds| seconds > MOST_CLOCK_TOLERANCE) {
            return Err(wrong("clock-tolerance", "expected 5m at most"));
        }
        Ok(seconds.map(Duration::from_secs))
    }

    /// Refuses an option beside others.
    pub fn alone(self, name: &str, others: &[&str]) -> Result<(), Failure> {
        match others.iter().find(|other| self.has(other)) {
            Some(other) if self.has(name) => {
                Err(wrong(name, &format!("cannot be used with --{other}")))
            }
            _ => Ok(()),
        }
    }

    /// Refuses an option without another one.
    pub fn needs(self, name: &str, other: &str) -> Result<(), Failure> {
        match self.has(name) && !self.has(other) {
            true => Err(wrong(name, &format!("expected --{other} beside it"))),
            false => Ok(()),
        }
    }

    pub fn principal(self) -> Result<Principal, Failure> {
        let parts = ["issuer", "client", "subject"];
        self.alone("anonymous", &parts)?;
        if self.has("anonymous") {
            return Ok(Principal::anonymous());
        }
        let [issuer, client, subject] = parts.map(|part| self.text(part));
        match (issuer, client, subject) {
            (None, None, None) => Err(wrong(
                "subject",
                "expected --subject, --client or both, or --anonymous",
            )),
            (Some(_), None, None) => Err(wrong(
                "issuer",
                "expected --subject or --client too: an issuer alone names no user",
            )),
            _ => Ok(Principal::from_parts(issuer, client, subject)?),
        }
    }
}

/// Returns the failure of an option that holds what it must not.
pub(crate) fn wrong(name: &str, why: &str) -> Failure {
    // Arguments have their names in capitals.
    let flag = match name {
        "action" | "file" | "key-id" | "text" | "url" => name.to_uppercase().replace('-', "_"),
        _ => format!("--{name}"),
    };
    Error::InvalidArgument(format!("{flag}: {why}").into()).into()
}
