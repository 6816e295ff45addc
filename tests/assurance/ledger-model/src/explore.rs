use std::time::{Duration, Instant};

use stateright::{Checker, HasDiscoveries, Model};

use crate::{Action, Scenario};

/// What was found in a scenario.
#[derive(Debug)]
pub struct Explored {
    /// The number of different states.
    pub states: usize,
    /// The length of the longest history.
    pub depth: usize,
    /// Whether nothing was left out.
    pub whole: bool,
    /// The promises that break, each with the shortest history that was found.
    pub broken: Vec<(&'static str, Vec<Action>)>,
    /// The verdicts that a guard was given, apart from `ok`.
    pub verdicts: Vec<&'static str>,
}

impl Scenario {
    /// Explores every history, or until the promise breaks that should.
    #[must_use]
    pub fn explore(&self, limit: Duration) -> Explored {
        let begun = Instant::now();
        let mut checker = self.clone().checker().threads(2).timeout(limit);
        let breaks = self.breaks.map(|promise| format!("{promise:?}"));
        let promises = self.properties();
        if let Some(sought) = promises
            .iter()
            .find(|one| Some(one.name) == breaks.as_deref())
        {
            checker = checker.finish_when(HasDiscoveries::AllOf([sought.name].into()));
        }
        let checker = checker.spawn_bfs().join();
        let (broken, seen): (Vec<_>, Vec<_>) = checker
            .discoveries()
            .into_iter()
            .partition(|(name, _)| name.starts_with(char::is_uppercase));
        Explored {
            states: checker.unique_state_count(),
            depth: checker.max_depth(),
            whole: begun.elapsed() < limit,
            broken: broken
                .into_iter()
                .map(|(name, path)| (name, path.into_actions()))
                .collect(),
            verdicts: seen.into_iter().map(|(name, _)| name).collect(),
        }
    }
}
