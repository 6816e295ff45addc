//! Checks whether a Redis or Valkey server is fit to hold a ledger.

use std::borrow::Cow;

/// What a preflight check finds of a server according to its `INFO`. A guard must not use a server with anything in
/// `refused`.
///
/// ```
/// use sealwax_mcp::ledger::Preflight;
///
/// let info = "redis_version:7.2.4\r\nrole:master\r\nmaxmemory:1048576\r\nmaxmemory_policy:allkeys-lru\r\naof_enabled:0\r\n";
/// let found = Preflight::of(info);
/// assert!(found.refused[0].contains("noeviction") && found.warned[1].contains("appendonly"));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Preflight {
    /// The reasons why it cannot be used, and what to do.
    pub refused: Vec<Cow<'static, str>>,
    /// The cases in which it may forget, and what to do.
    pub warned: Vec<Cow<'static, str>>,
}

impl Preflight {
    /// Reads the reply to `INFO`.
    #[must_use]
    pub fn of(info: &str) -> Self {
        let value = |name: &str| {
            let line = info
                .lines()
                .find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
            line.map(str::trim)
        };
        let (mut refused, mut warned) = (Vec::new(), Vec::new());
        match value("redis_version").map(version) {
            Some(Some(version)) if version >= (6, 2) => {}
            Some(Some((major, minor))) => refused.push(Cow::from(format!(
                "version: expected Redis 6.2 or later, or Valkey, found {major}.{minor}"
            ))),
            _ => refused.push("INFO: expected the answer of a Redis or a Valkey".into()),
        }
        if value("role").is_some_and(|role| role != "master") {
            refused.push("role: expected a master, found a replica, which takes no writes".into());
        }
        match (value("maxmemory_policy"), value("maxmemory")) {
            (Some("noeviction"), _) => {}
            (Some(policy), Some("0")) => warned.push(Cow::from(format!(
                "maxmemory-policy is {policy}: set noeviction, before a maxmemory is set"
            ))),
            (policy, _) => refused.push(Cow::from(format!(
                "maxmemory-policy: expected noeviction, found {}: what it evicts can be used again",
                policy.unwrap_or("none in INFO")
            ))),
        }
        let told = ["run_id", "master_replid", "evicted_keys"];
        if let Some(missing) = told.into_iter().find(|name| value(name).is_none()) {
            warned.push(Cow::from(format!(
                "INFO has no {missing}: a fail-over or an eviction would go unnoticed, so every command needs a replica that confirms it"
            )));
        }
        if value("aof_enabled") == Some("0") {
            warned.push("appendonly is off: a restart forgets what ended, and ends all sessions begun before it; set it to yes".into());
        }
        if value("connected_slaves").is_some_and(|count| count != "0")
            && value("min_slaves_good_slaves").is_none()
        {
            warned.push("min-replicas-to-write is 0: in a split brain both masters may accept a token that is for one use; set it to 1".into());
        }
        Self { refused, warned }
    }
}

fn version(text: &str) -> Option<(u32, u32)> {
    let mut parts = text.split('.');
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::Preflight;

    const FIT: &str = "redis_version:7.2.4\r\nvalkey_version:9.1.2\r\nrole:master\r\nconnected_slaves:0\r\n\
                       maxmemory:0\r\nmaxmemory_policy:noeviction\r\naof_enabled:1\r\n\
                       run_id:1a\r\nmaster_replid:2b\r\nevicted_keys:0\r\n";

    fn found(right: &str, wrong: &str) -> (usize, usize) {
        assert!(FIT.contains(right));
        let found = Preflight::of(&FIT.replace(right, wrong));
        (found.refused.len(), found.warned.len())
    }

    #[test]
    fn a_store_that_forgets_is_refused_or_warned_of() {
        assert_eq!(Preflight::of(FIT), Preflight::default());
        assert_eq!(found("7.2.4", "6.2.0"), (0, 0));
        let old = Preflight::of(&FIT.replace("7.2.4", "6.0.16"));
        assert!(old.refused[0].ends_with("found 6.0"), "{old:?}");
        assert_eq!(found("redis_version", "memcached"), (1, 0));
        assert_eq!(found("role:master", "role:slave"), (1, 0));
        assert_eq!(found("noeviction", "volatile-lru"), (0, 1));
        let evicts = "maxmemory:1000\r\nmaxmemory_policy:volatile-lru";
        assert_eq!(
            found("maxmemory:0\r\nmaxmemory_policy:noeviction", evicts),
            (1, 0)
        );
        // What tells nothing of it does not count as good.
        for lines in [
            "maxmemory_policy:noeviction",
            "maxmemory:0\r\nmaxmemory_policy:noeviction",
        ] {
            assert_eq!(found(lines, ""), (1, 0));
        }
        for name in ["run_id", "master_replid", "evicted_keys"] {
            assert_eq!(found(name, "another"), (0, 1));
        }
        assert_eq!(found("aof_enabled:1", "aof_enabled:0"), (0, 1));
        assert_eq!(found("connected_slaves:0", "connected_slaves:1"), (0, 1));
        let safe = "connected_slaves:1\r\nmin_slaves_good_slaves:1";
        assert_eq!(found("connected_slaves:0", safe), (0, 0));
    }
}
