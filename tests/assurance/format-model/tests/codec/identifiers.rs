//! The verification of the model is that of the codec, for session ids and handles.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
use format_model::identifier::{Body, Form, Minted, Ptag, Text, Ulid, Verifier, pairs, verify};
use format_model::{Key, Purpose};
use sealwax::{Kind, View};

use crate::base32;
use crate::world::{World, key, sealer, view};

const RING: [Key; 2] = [Key::Ours, Key::Former];

/// The bytes of what was minted, behind its prefix.
fn minted(of: &Minted) -> Vec<u8> {
    let world = World(of.ulid.made, of.ulid.number);
    let view = view(&[of.key], of.audience, of.holder, world);
    match of.form {
        Form::SessionId => {
            let id = view.mint_session_id().unwrap();
            BASE64.decode(&id.as_str()["sess_".len()..]).unwrap()
        }
        Form::Handle(label) => {
            let handle = view.mint_handle(label).unwrap();
            base32::decode(&handle.as_str()[label.len() + 1..])
        }
        Form::Sealed => {
            let purpose = Purpose {
                kind: Kind::Session,
                label: "",
                session: "",
                context: "",
            };
            let token = sealer(&view, &purpose, &[]).seal(b"x").unwrap();
            BASE64.decode(&token.as_str()["sw1.".len()..]).unwrap()
        }
    }
}

/// The last bytes of what was minted: its MAC, or some of a longer one, or a shorter one and more.
fn mac(of: &Minted, bytes: &[u8], len: usize) -> Vec<u8> {
    let its_len = if of.form.body() == Body::Handle {
        10
    } else {
        16
    };
    let mut mac = bytes[bytes.len() - its_len..].to_vec();
    mac.resize(len, 1);
    mac
}

fn ulid(of: Ulid) -> Vec<u8> {
    let mut bytes = of.made.to_be_bytes()[2..].to_vec();
    bytes.extend(of.number.to_le_bytes());
    bytes.resize(16, 1);
    bytes
}

/// Made as part of an id at any service: it does not depend on that.
fn ptag(of: Ptag) -> Vec<u8> {
    let id = minted(&Minted {
        form: Form::SessionId,
        key: of.key,
        audience: "any",
        holder: of.holder,
        ulid: of.ulid,
    });
    id[20..28].to_vec()
}

/// Real bytes, each made once.
#[derive(Default)]
struct Made {
    minted: HashMap<Minted, Vec<u8>>,
    ptags: HashMap<Ptag, Vec<u8>>,
    kids: HashMap<Key, Vec<u8>>,
}

impl Made {
    /// The spellings of a text: the only right one, or the others.
    fn texts(&mut self, of: &Text<'_>) -> Vec<String> {
        let whole = self.minted.entry(*of.mac).or_insert_with(|| minted(of.mac));
        let body = match of.body {
            Body::Sealed => BASE64.encode(whole),
            Body::Handle => base32::encode(&[ulid(of.ulid), mac(of.mac, whole, 10)].concat()),
            Body::SessionId => {
                let kid = self.kids.entry(of.key);
                let kid = kid.or_insert_with(|| key(of.key).id().as_bytes().to_vec());
                let ptag = self.ptags.entry(of.ptag).or_insert_with(|| ptag(of.ptag));
                let parts = [&kid[..], &ulid(of.ulid), ptag, &mac(of.mac, whole, 16)];
                BASE64.encode(parts.concat())
            }
        };
        let prefix = match of.prefix {
            Form::SessionId => "sess_".into(),
            Form::Handle(label) => format!("{label}_"),
            Form::Sealed => "sw1.".into(),
        };
        let bodies = if of.respelled {
            respelled(&body, of.body)
        } else {
            vec![body]
        };
        bodies
            .into_iter()
            .map(|body| prefix.clone() + &body)
            .collect()
    }
}

/// The other spellings that a lenient reader might read as the same bytes.
fn respelled(body: &str, of: Body) -> Vec<String> {
    let (start, last) = body.split_at(body.len() - 1);
    // The next letter of either alphabet: of the bits by which it differs, none belongs to a byte.
    let next = char::from(last.as_bytes()[0] + 1);
    let mut all = vec![
        format!("{start}{next}"),
        format!("{body}="),
        format!("{body}\n"),
        format!(" {body}"),
        format!("{start}-{last}"),
    ];
    if of == Body::Handle {
        all.extend([
            body.to_uppercase(),
            body.replace('0', "o"),
            body.replace('1', "l"),
        ]);
    } else {
        all.push(body.replace('-', "+").replace('_', "/"));
    }
    all.retain(|other| other != body);
    all
}

fn view_of(verifier: &Verifier) -> View {
    let world = World(verifier.now, 0);
    view(&RING, verifier.audience, verifier.holder, world)
}

fn verified(view: &View, by: &Verifier, text: &str) -> Result<[u8; 16], &'static str> {
    let max_age = by.max_age.map(Duration::from_secs);
    let found = match by.form {
        Form::Handle(label) => view
            .verify_handle(label, text, max_age)
            .map(|handle| *handle.ulid()),
        _ => view.verify_session_id(text, max_age).map(|id| *id.ulid()),
    };
    found.map_err(|error| error.code())
}

#[test]
fn the_codec_says_what_the_model_says() {
    let mut made = Made::default();
    let mut views = HashMap::new();
    let mut verdicts: BTreeMap<(Body, &str), u32> = BTreeMap::new();
    let mut seen = 0u64;
    pairs(|text, by| {
        seen += 1;
        let expected = verify(text, by, &[]);
        let verdict = expected.err().unwrap_or("ok");
        // Every one that verifies, and of the others many.
        let often = match verdict {
            "malformed" => 997,
            "unknown_key" | "unauthentic" | "wrong_purpose" => 23,
            _ => 1,
        };
        if !seen.is_multiple_of(often) {
            return;
        }
        let view = views.entry(*by).or_insert_with(|| view_of(by));
        for spelled in made.texts(text) {
            *verdicts.entry((by.form.body(), verdict)).or_default() += 1;
            let found = verified(view, by, &spelled);
            // What it names, for the ledger too, is the decoded ulid.
            let expected = expected.map(|()| ulid(text.ulid));
            assert_eq!(
                found.map(Vec::from),
                expected,
                "{spelled}\n{text:?}\n{by:?}"
            );
        }
    });
    // Of an id: not `wrong_purpose`. Of a handle: neither `unknown_key` nor `principal_mismatch`.
    assert_eq!(verdicts.len(), 7 + 6, "{verdicts:?}");
    assert!(verdicts.values().all(|&count| count >= 8), "{verdicts:?}");
    println!("{verdicts:?} were tried");
    println!("figure: {seen} pairs of id or handle and request");
    println!(
        "figure: {} of these with real texts",
        verdicts.values().sum::<u32>()
    );
}
