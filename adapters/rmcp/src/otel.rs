//! Metrics by OpenTelemetry.

use opentelemetry::metrics::Meter;
use opentelemetry::{KeyValue, Value};

use crate::{GuardBuilder, Kind};

/// Seconds, from a second to 30 days. Every language has the same, or no quantile could be computed of a fleet.
const AGES: [u32; 11] = [
    1, 5, 15, 60, 300, 900, 3_600, 14_400, 86_400, 604_800, 2_592_000,
];

/// Seconds, from 10 µs to a second.
const DURATIONS: [f64; 16] = [
    0.000_01, 0.000_025, 0.000_05, 0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025,
    0.05, 0.1, 0.25, 0.5, 1.0,
];

impl GuardBuilder {
    /// Counts by OpenTelemetry, beside your own [`on_event`](Self::on_event) and [`on_refused`](Self::on_refused):
    ///
    /// - counter `sealwax.tokens`, with the attributes `sealwax.event` (opened, sealed, ended, revoked, refused),
    ///   `sealwax.kind`, `sealwax.key.id`, `mcp.method.name`, and of what was refused `error.type`, its code;
    /// - histogram `sealwax.token.age`, of opened ones, in seconds, with `sealwax.kind`;
    /// - histogram `sealwax.guard.duration`, in seconds, with `sealwax.event` and `sealwax.kind`.
    ///
    /// No id, target or principal is an attribute, and a method that is none of the protocol's is `_OTHER`.
    ///
    /// ```
    /// # use sealwax::{Codec, Key, KeyRing};
    /// # use sealwax_rmcp::{Guard, anonymous};
    /// # let codec = Codec::new(KeyRing::new([Key::generate()?])?, "https://mcp.example.com")?;
    /// let meter = opentelemetry::global::meter("sealwax");
    /// let guard = Guard::builder(codec, anonymous).instruments(&meter).build()?;
    /// # Ok::<(), sealwax::Error>(())
    /// ```
    pub fn instruments(self, meter: &Meter) -> Self {
        let tokens = meter.u64_counter("sealwax.tokens").with_unit("{token}");
        let tokens =
            tokens.with_description("Tokens that were opened, sealed, ended, revoked or refused");
        let tokens = tokens.build();
        let refused = tokens.clone();
        let age = meter.f64_histogram("sealwax.token.age").with_unit("s");
        let age = age.with_description("How long ago the tokens were sealed that were opened");
        let age = age.with_boundaries(AGES.map(f64::from).to_vec()).build();
        let duration = meter.f64_histogram("sealwax.guard.duration").with_unit("s");
        let duration = duration.with_description("How long a message or a result was at the guard");
        let duration = duration.with_boundaries(DURATIONS.to_vec()).build();
        self.on_event(move |event| {
            let what = [
                KeyValue::new("sealwax.event", event.event.name()),
                kind(event.kind),
            ];
            duration.record(event.took.as_secs_f64(), &what);
            if let Some(time) = event.age {
                age.record(time.as_secs_f64(), &what[1..]);
            }
            let mut attributes = what.to_vec();
            let key = event.key_id.map(|id| id.to_string());
            attributes.extend(key.map(|key| KeyValue::new("sealwax.key.id", key)));
            attributes.extend(method(event.method.clone(), event.custom_method));
            tokens.add(1, &attributes);
        })
        .on_refused(move |refusal| {
            let mut attributes = vec![
                KeyValue::new("sealwax.event", "refused"),
                kind(refusal.kind),
                KeyValue::new("error.type", refusal.code),
            ];
            attributes.extend(method(refusal.method.clone(), refusal.custom_method));
            refused.add(1, &attributes);
        })
    }
}

fn kind(kind: Kind) -> KeyValue {
    KeyValue::new("sealwax.kind", kind.name())
}

fn method(name: Option<impl Into<Value>>, is_custom: bool) -> Option<KeyValue> {
    let name = match is_custom {
        true => Some("_OTHER".into()),
        false => name.map(Into::into),
    };
    name.map(|name| KeyValue::new("mcp.method.name", name))
}
