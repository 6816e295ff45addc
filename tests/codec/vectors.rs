//! Every vector of `tests/vectors/*.json`, whose tokens were made by another implementation.

use std::time::Duration;

use crate::common::{Fixed, bytes, codec_at, list, principal, purpose, text};
use base16ct::lower as hex;
use sealwax::{Codec, Error, KeyRing, RequestContext, Variables, View, hazmat};
use serde_json::Value;

/// The fixed vectors, and further ones of this repository.
fn files() -> [Value; 2] {
    [
        include_str!("../vectors/v1.json"),
        include_str!("../vectors/more.json"),
    ]
    .map(|json| serde_json::from_str(json).unwrap())
}

fn each(section: &str, check: impl Fn(&Value, &Value)) {
    for file in files() {
        // The fixed ones have no section that came later.
        for vector in file[section].as_array().into_iter().flatten() {
            check(&file, vector);
        }
    }
}

/// The ring of the file's keys at `places`, in that order.
fn ring(file: &Value, places: &[Value]) -> String {
    let key = |place: &Value| {
        text(
            &file["keys"][usize::try_from(place.as_u64().unwrap()).unwrap()],
            "text",
        )
    };
    places.iter().map(key).collect::<Vec<_>>().join(" ")
}

fn ids(ring: &KeyRing) -> Value {
    ring.ids().map(|id| id.to_string()).collect()
}

/// The view of a vector: with one key to seal, or with a ring to open.
fn view(file: &Value, vector: &Value, environment: Fixed) -> Result<View, Error> {
    let ring = match &vector["ring"] {
        Value::Array(places) => ring(file, places),
        _ => ring(file, &[vector["key"].clone()]),
    };
    codec_at(&ring, text(vector, "audience"), environment)?.view(&principal(vector)?)
}

fn at(now_ms: u64) -> Fixed {
    Fixed {
        now_ms,
        random: None,
    }
}

#[test]
fn keys() {
    each("keys", |_, vector| {
        let key = sealwax::Key::from_secret(&bytes(vector, "secret")).unwrap();
        assert_eq!(key.to_text().unwrap().as_str(), text(vector, "text"));
        let id = u32::from_str_radix(text(vector, "kid"), 16).unwrap();
        assert_eq!(key.id().as_bytes(), &id.to_be_bytes());
        assert_eq!(text(vector, "text").parse::<sealwax::Key>().unwrap(), key);
    });
}

#[test]
fn derived() {
    each("derived", |_, vector| {
        let key = sealwax::Key::derive(text(vector, "from"));
        match vector["error"].as_str() {
            Some(error) => assert_eq!(key.unwrap_err().code(), error),
            None => {
                let key = key.unwrap();
                assert_eq!(key.to_text().unwrap().as_str(), text(vector, "text"));
                assert_eq!(key.id().to_string(), text(vector, "kid"));
            }
        }
    });
}

#[test]
fn environments() {
    each("environments", |_, vector| {
        let variables = vector["variables"].as_object().unwrap();
        let line = |(name, value): (_, &Value)| format!("{name}={}\0", value.as_str().unwrap());
        let lines = variables.iter().map(line).collect::<String>();
        let read = Variables::read(&lines);
        let absent = variables.values().all(|value| value == "");
        assert_eq!(read.are_absent(), absent);
        match (vector["error"].as_str(), read.ring()) {
            (Some(code), Err(error)) => {
                assert_eq!(error.code(), code);
                assert!(!absent || error.to_string().contains("makes a key"));
            }
            (None, Ok(Some(ring))) => assert_eq!(ids(&ring), vector["keys"]),
            (None, Ok(None)) => assert_eq!(vector["is_file"], true),
            (expected, found) => panic!("{variables:?}: expected {expected:?}, found {found:?}"),
        }
    });
}

#[test]
fn key_rings() {
    each("key_rings", |_, vector| {
        let ring = text(vector, "ring").parse::<KeyRing>();
        match vector["error"].as_str() {
            Some(error) => assert_eq!(ring.unwrap_err().code(), error),
            None => assert_eq!(ids(&ring.unwrap()), vector["keys"]),
        }
    });
}

#[test]
fn sealed_tokens_come_out_the_same() {
    each("sealed", |file, vector| {
        let context = bytes(vector, "context");
        let number = |member: &str| vector[member].as_u64().unwrap();
        let environment = Fixed {
            now_ms: number("issued_at") * 1000 + 999,
            random: Some(bytes(vector, "nonce")),
        };
        let view = view(file, vector, environment).unwrap();
        let sealer = view.sealer(purpose(vector, &context));
        let sealer = match number("ttl") {
            0 => sealer.no_expiry(),
            ttl => sealer.ttl(Duration::from_secs(ttl)),
        };
        let [age, generation] =
            ["age", "generation"].map(|member| u32::try_from(number(member)).unwrap());
        let token = hazmat::seal(&sealer, age, generation, &bytes(vector, "payload")).unwrap();
        assert_eq!(token.as_str(), text(vector, "token"), "{}", vector["id"]);

        let opened = sealer.open(&token).unwrap();
        assert_eq!(opened.token_id().to_string(), text(vector, "token_id"));
        check_opened(&opened, vector);
    });
}

fn check_opened<K>(opened: &sealwax::Opened<K>, expected: &Value) {
    assert_eq!(opened.payload(), bytes(expected, "payload"));
    let number = |member: &str| expected[member].as_u64().unwrap();
    assert_eq!(opened.issued_at(), number("issued_at"));
    assert_eq!(u64::from(opened.generation()), number("generation"));
    assert_eq!(
        opened.started_at(),
        number("issued_at").saturating_sub(number("age"))
    );
    let expires_at = (number("ttl") != 0).then(|| number("issued_at") + number("ttl"));
    assert_eq!(opened.expires_at(), expires_at);
}

#[test]
fn session_ids_come_out_the_same() {
    each("session_ids", |file, vector| {
        let view = view(file, vector, minting(vector)).unwrap();
        let id = view.mint_session_id().unwrap();
        assert_eq!(id.as_str(), text(vector, "session_id"));
        assert_eq!(vector["issued_at_ms"], id.created_at_ms());
        assert_eq!(view.verify_session_id(id.as_str(), None).unwrap(), id);
    });
}

#[test]
fn handles_come_out_the_same() {
    each("handles", |file, vector| {
        let view = view(file, vector, minting(vector)).unwrap();
        let handle = view.mint_handle(text(vector, "type")).unwrap();
        assert_eq!(handle.as_str(), text(vector, "handle"));
        assert_eq!(vector["issued_at_ms"], handle.created_at_ms());
        let verified = view.verify_handle(text(vector, "type"), handle.as_str(), None);
        assert_eq!(verified.unwrap(), handle);
    });
}

#[test]
fn consents_come_out_the_same() {
    each("consents", |file, vector| {
        let view = view(file, vector, minting(vector)).unwrap();
        let within = Duration::from_secs(600);
        let request = RequestContext::from_bytes(&bytes(vector, "context")).unwrap();
        let consent = view.mint_consent(&request).unwrap();
        assert_eq!(consent.as_str(), text(vector, "consent"));
        let verified = view.verify_consent(&request, consent.as_str(), within);
        assert_eq!(verified.unwrap(), consent);
        // Neither a handle passes for a consent, nor one of another request.
        let other = RequestContext::new("tools/call", "other", None).unwrap();
        for (request, text) in [
            (request, text(vector, "unbound")),
            (other, consent.as_str()),
        ] {
            let refused = view.verify_consent(&request, text, within);
            assert_eq!(refused.unwrap_err(), Error::Unauthentic);
        }
        let typed = view.verify_handle("yes", consent.as_str(), None);
        assert_eq!(typed.unwrap_err().code(), "invalid_argument");
    });
}

#[test]
fn short_handles_come_out_the_same() {
    each("short_handles", |file, vector| {
        let own = view(file, vector, at(0)).unwrap();
        let (of, handle) = (text(vector, "type"), text(vector, "handle"));
        let number = u32::try_from(vector["number"].as_u64().unwrap()).unwrap();
        assert_eq!(own.mint_short_handle(of, number).unwrap(), handle);
        let code = |of, text: &str| own.verify_short_handle(of, text).unwrap_err().code();
        assert_eq!(own.verify_short_handle(of, handle), Ok(number));
        assert_eq!(code("order", handle), "wrong_purpose");
        assert_eq!(code("Order", handle), "invalid_argument");
        let (before, mac) = handle.rsplit_once('_').unwrap();
        let other = format!("{of}_{}_{mac}", number ^ 1);
        assert_eq!(code(of, &other), "unauthentic", "another number");
        let last = if mac.ends_with('0') { '1' } else { '0' };
        let altered = format!("{before}_{}{last}", &mac[..7]);
        assert_eq!(code(of, &altered), "unauthentic", "another character");
        // One spelling.
        for text in [
            format!("{of}_0{number}_{mac}"),
            format!("{of}_+{number}_{mac}"),
            format!("{of}_4294967296_{mac}"),
            format!("{of}__{mac}"),
            format!("{of}_{number}_"),
            format!("{before}_{}", mac.to_uppercase().replace('0', "O")),
            format!("{handle}_"),
            format!("{handle}0"),
            handle[..handle.len() - 1].to_owned(),
            handle.replace('_', ""),
            format!("{of}_{number}"),
        ] {
            assert_eq!(code(of, &text), "malformed", "{text}");
        }
        assert_eq!(
            own.verify_handle(of, handle, None).unwrap_err().code(),
            "malformed",
            "a short handle is no other"
        );
        let long = own.mint_handle(of).unwrap();
        assert_eq!(code(of, long.as_str()), "malformed");
    });
}

/// The time and the ten random bytes of the vector's ulid.
fn minting(vector: &Value) -> Fixed {
    Fixed {
        now_ms: vector["issued_at_ms"].as_u64().unwrap(),
        random: Some(bytes(vector, "ulid")[6..].to_vec()),
    }
}

#[test]
fn request_contexts() {
    each("request_contexts", |_, vector| {
        let arguments = text(vector, "arguments");
        let context = RequestContext::new(
            text(vector, "method"),
            text(vector, "target"),
            Some(arguments),
        );
        assert_eq!(
            context.unwrap().to_string(),
            text(vector, "context"),
            "{arguments}"
        );
    });
}

#[test]
fn request_contexts_refused() {
    each("request_context_reject", |_, vector| {
        let arguments = text(vector, "arguments");
        let method = vector["method"].as_str().unwrap_or("tools/call");
        let target = vector["target"].as_str().unwrap_or("search_code");
        let refused = RequestContext::new(method, target, Some(arguments)).unwrap_err();
        assert_eq!(refused.code(), text(vector, "error"), "{arguments}");
    });
}

/// A token contains its principal tag, so a view that opens it has computed the same tag.
#[test]
fn principal_tags() {
    each("principal_tags", |file, vector| {
        let keys = list(&file["keys"]);
        let ring = keys
            .iter()
            .map(|key| text(key, "text"))
            .collect::<Vec<_>>()
            .join(",");
        let codec: Codec = codec_at(&ring, "any", at(0)).unwrap();
        let view = codec.view(&principal(vector).unwrap()).unwrap();
        let tags = hazmat::tags(&view).map(|tag| Value::from(hex::encode_string(tag)));
        assert_eq!(tags.collect::<Vec<_>>(), list(&vector["tags"]));
    });
}

#[test]
fn accepted() {
    each("accept", |file, vector| {
        let expected = &vector["expect"];
        let outcome =
            open(file, vector).unwrap_or_else(|error| panic!("{}: {error}", vector["id"]));
        match outcome {
            Outcome::Sealed(opened) => {
                check_opened(&opened, expected);
                assert_eq!(opened.token_id().to_string(), text(expected, "token_id"));
                assert_eq!(opened.needs_reseal(), expected["needs_reseal"]);
            }
            Outcome::Id { ulid, needs_reseal } => {
                assert_eq!(hex::encode_string(&ulid), text(expected, "ulid"));
                assert_eq!(needs_reseal, expected["needs_reseal"]);
            }
        }
    });
}

#[test]
fn rejected() {
    each("reject", |file, vector| {
        let code = open(file, vector).map_or_else(|error| error.code(), |_| "accepted");
        assert_eq!(code, text(vector, "error"), "{}", vector["id"]);
    });
}

enum Outcome {
    Sealed(sealwax::Opened<sealwax::kind::Untyped>),
    Id { ulid: [u8; 16], needs_reseal: bool },
}

fn open(file: &Value, vector: &Value) -> Result<Outcome, Error> {
    let seconds = vector["now"].as_u64().map(|now| now * 1000);
    let now_ms = vector["now_ms"].as_u64().or(seconds).unwrap();
    let max_age = vector["max_age"].as_u64().map(Duration::from_secs);
    let view = view(file, vector, at(now_ms))?;
    match text(vector, "what") {
        "sealed" => {
            let context = bytes(vector, "context");
            let sealer = view.sealer(purpose(vector, &context));
            let sealer = max_age.into_iter().fold(sealer, sealwax::Sealer::max_age);
            sealer.open(text(vector, "token")).map(Outcome::Sealed)
        }
        "session_id" => {
            let id = view.verify_session_id(text(vector, "session_id"), max_age)?;
            Ok(Outcome::Id {
                ulid: *id.ulid(),
                needs_reseal: id.needs_reseal(),
            })
        }
        "handle" => {
            let handle =
                view.verify_handle(text(vector, "type"), text(vector, "handle"), max_age)?;
            Ok(Outcome::Id {
                ulid: *handle.ulid(),
                needs_reseal: handle.needs_reseal(),
            })
        }
        what => panic!("no such vector: {what}"),
    }
}
