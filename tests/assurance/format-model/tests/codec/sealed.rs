//! The opening of the model is that of the codec.

use std::collections::{BTreeMap, HashMap};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
use format_model::{Key, Opener, Sealed, Text, open, pairs};
use sealwax::{Ttl, hazmat};

use crate::world::{World, key, sealer, view};

/// 32 bytes, or none.
fn context(of: &str) -> Vec<u8> {
    of.bytes()
        .cycle()
        .take(32 * usize::from(!of.is_empty()))
        .collect()
}

/// The bytes of a token, of a length that leaves unused bits in its last character.
fn bytes(sealed: &Sealed) -> Vec<u8> {
    let world = World(sealed.claims.issued * 1000, sealed.nonce);
    let view = view(&[sealed.key], sealed.audience, sealed.holder, world);
    let context = context(sealed.purpose.context);
    let sealer = sealer(&view, &sealed.purpose, &context).with_ttl(Ttl::Given(
        std::time::Duration::from_secs(sealed.claims.ttl.into()),
    ));
    let mut payload = format!("secret {}", sealed.secret.0).into_bytes();
    loop {
        let token = hazmat::seal(&sealer, sealed.claims.age, 0, &payload).unwrap();
        let bytes = BASE64.decode(&token.as_str()[4..]).unwrap();
        if bytes.len() % 3 == 1 {
            return bytes;
        }
        payload.push(b'.');
    }
}

fn text(text: &Text<'_>, bytes: &[u8]) -> String {
    let mut bytes = bytes.to_vec();
    bytes[0] = text.kind as u8;
    bytes[1..5].copy_from_slice(key(text.key).id().as_bytes());
    bytes[5..7].copy_from_slice(&text.nonce.to_le_bytes());
    let mut token = format!("sw1.{}", BASE64.encode(bytes));
    if text.respelled {
        let last = token.pop().unwrap();
        token.push(char::from(last as u8 + 1));
    }
    token
}

#[test]
fn the_codec_says_what_the_model_says() {
    let mut made: HashMap<Sealed, Vec<u8>> = HashMap::new();
    let mut verdicts: BTreeMap<&str, u32> = BTreeMap::new();
    let mut seen = 0u64;
    pairs(|one, opener: &Opener| {
        seen += 1;
        let expected = open(one, opener, &[]);
        let verdict = expected.err().unwrap_or("ok");
        let count = verdicts.entry(verdict).or_default();
        // Every one that opens, and of the others many.
        let often = match verdict {
            "malformed" | "wrong_purpose" | "unknown_key" => 997,
            "unauthentic" => 53,
            _ => 1,
        };
        if verdict != "ok" && !seen.is_multiple_of(often) {
            return;
        }
        *count += 1;
        let bytes = made.entry(*one.cipher).or_insert_with(|| bytes(one.cipher));
        let view = view(
            &[Key::Ours],
            opener.audience,
            opener.holder,
            World(opener.now * 1000, 0),
        );
        let context = context(opener.purpose.context);
        let mut sealer = sealer(&view, &opener.purpose, &context);
        if let Some(max_age) = opener.max_age {
            sealer = sealer.max_age(std::time::Duration::from_secs(max_age));
        }
        let found = sealer
            .open(text(one, bytes))
            .map(drop)
            .map_err(|error| error.code());
        assert_eq!(found, expected, "{one:?}\n{opener:?}");
    });
    assert_eq!(verdicts.len(), 8, "{verdicts:?}");
    assert!(verdicts.values().all(|&count| count > 20), "{verdicts:?}");
    println!("{verdicts:?} were tried");
    println!("figure: {seen} pairs of token and request");
    println!(
        "figure: {} of these with real texts",
        verdicts.values().sum::<u32>()
    );
}
