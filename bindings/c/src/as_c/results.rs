//! Each result in a buffer that is just large enough, on the heap, where Miri sees a byte too many.

use std::ptr;

use super::{KEY, MINUTE, SESSION, World, c, made, text, written};
use crate::identifier::*;
use crate::inspect::*;
use crate::key::*;
use crate::key_ring::*;
use crate::ledger::*;
use crate::request::*;
use crate::session::*;
use crate::size::*;
use crate::status::*;
use crate::token::*;

#[test]
fn keys_and_reports() {
    let mut world = World::new();
    let (error, ring) = (world.error(), world.ring.cast_const());
    let key = made(|key| c!(sealwax_key_parse([KEY], key, error)));
    let id: [u8; 4] = made(|id| c!(sealwax_key_id(key.cast_const(), id, error)));
    let shown =
        text(|out, cap, len| c!(sealwax_key_to_text(key.cast_const(), out, cap, len, error)));
    assert_eq!(shown, KEY);
    c!(sealwax_key_free(key));
    let long = made(|key| {
        c!(sealwax_key_from_secret(
            [(0..33).collect::<Vec<u8>>()],
            key,
            error
        ))
    });
    // A long secret has no text.
    let none =
        text(|out, cap, len| c!(sealwax_key_to_text(long.cast_const(), out, cap, len, error)));
    assert_eq!(none, "");
    c!(sealwax_key_free(long));
    let ids = written(|out, cap, len| c!(sealwax_ring_ids(ring, out, cap, len, error)));
    assert_eq!(ids, id);
    let words =
        text(|out, cap, len| c!(sealwax_report_words([KEY], ring, 0, out, cap, len, error)));
    assert!(words.contains("key"), "{words}");
    let json = text(|out, cap, len| c!(sealwax_report_json([KEY], ring, out, cap, len, error)));
    assert!(json.contains("\"in_ring\":true"), "{json}");
    let seen = made(|seen| c!(sealwax_inspect([KEY], seen, error)));
    assert_eq!((seen.what, seen.key_id), (SEALWAX_IS_KEY, id));
}

#[test]
fn tokens() {
    let mut world = World::new();
    let (error, view) = (world.error(), world.alice.cast_const());
    let purpose = ptr::from_ref(&SESSION);
    for payload in [&b""[..], b"hello"] {
        let token = text(|out, cap, len| {
            c!(sealwax_seal(
                view,
                purpose,
                ptr::null(),
                [payload],
                out,
                cap,
                len,
                error
            ))
        });
        let mut opened = None;
        let found = written(|out, cap, len| {
            let mut status = SEALWAX_OK;
            let claims = std::mem::MaybeUninit::<Opened>::uninit();
            let mut claims = Box::new(claims);
            status += c!(sealwax_open(
                view,
                purpose,
                ptr::null(),
                [token],
                out,
                cap,
                len,
                claims.as_mut_ptr(),
                error
            ));
            if status == SEALWAX_OK {
                // SAFETY: it succeeded, so they were written.
                opened = Some(unsafe { claims.assume_init_read() });
            }
            status
        });
        let opened = opened.expect("claims");
        assert_eq!((&found[..], opened.generation), (payload, 0));
        let renewed = text(|out, cap, len| {
            c!(sealwax_renew(
                view,
                purpose,
                ptr::from_ref(&MINUTE),
                &raw const opened,
                [payload],
                out,
                cap,
                len,
                error
            ))
        });
        let next = made(|next| {
            let mut out = [0_u8; 64];
            let mut len = 0;
            c!(sealwax_open(
                view,
                purpose,
                ptr::null(),
                [renewed],
                out.as_mut_ptr(),
                64,
                &raw mut len,
                next,
                error
            ))
        });
        assert_eq!((next.generation, next.expires_at), (1, next.issued_at + 60));
    }
    // Refused, and so nothing is written but the message.
    let mut len = 7;
    let status = c!(sealwax_open(
        view,
        purpose,
        ptr::null(),
        ["sw1.AAAA"],
        ptr::null_mut(),
        0,
        &raw mut len,
        ptr::null_mut(),
        error
    ));
    assert!(sealwax_is_refusal(status) && len == 7);
    // SAFETY: a failed call wrote it.
    assert_eq!(unsafe { (*error).status }, status);
}

#[test]
fn identifiers() {
    let mut world = World::new();
    let (error, view) = (world.error(), world.alice.cast_const());
    let (max_age, mut facts) = (60, Vec::new());
    let mut keep = |status, identifier: Box<std::mem::MaybeUninit<Identifier>>| {
        if status == SEALWAX_OK {
            // SAFETY: it succeeded, so it was written.
            facts.push(unsafe { identifier.assume_init_read() });
        }
        status
    };
    let id = text(|out, cap, len| {
        let mut place = Box::new_uninit();
        keep(
            c!(sealwax_mint_session_id(
                view,
                out,
                cap,
                len,
                place.as_mut_ptr(),
                error
            )),
            place,
        )
    });
    assert_eq!(id.len(), SEALWAX_SESSION_ID_LEN);
    let handle = text(|out, cap, len| {
        let mut place = Box::new_uninit();
        let status = c!(sealwax_new_handle(
            view,
            ["order"],
            &raw const max_age,
            out,
            cap,
            len,
            place.as_mut_ptr(),
            error
        ));
        keep(status, place)
    });
    let longest = "a".repeat(32);
    let mint = |out, cap, len| {
        c!(sealwax_mint_handle(
            view,
            [longest],
            out,
            cap,
            len,
            ptr::null_mut(),
            error
        ))
    };
    assert_eq!(text(mint).len(), SEALWAX_HANDLE_MAX);
    let verified = [
        made(|place| {
            c!(sealwax_verify_session_id(
                view,
                [id],
                ptr::null(),
                place,
                error
            ))
        }),
        made(|place| {
            c!(sealwax_verify_handle(
                view,
                ["order"],
                [handle],
                &raw const max_age,
                place,
                error
            ))
        }),
    ];
    let expected = [SEALWAX_NEVER, super::NOW_MS + 60_000];
    for ((minted, verified), ends) in facts.iter().zip(&verified).zip(expected) {
        assert_eq!((minted.ulid, minted.ends_at_ms), (verified.ulid, ends));
        assert_eq!(verified.ends_at_ms, ends);
    }
}

#[test]
fn sessions() {
    let mut world = World::new();
    let (error, view) = (world.error(), world.alice.cast_const());
    let metadata = text(|out, cap, len| {
        c!(sealwax_session_create(
            view,
            ptr::null(),
            ["hello"],
            out,
            cap,
            len,
            error
        ))
    });
    assert!(metadata.len() <= c!(sealwax_metadata_limit(world.codec.cast_const())));
    let open = |metadata: &str| {
        made(|session| c!(sealwax_session_open(view, [metadata], session, error))).cast_const()
    };
    let session = open(&metadata);
    let id = text(|out, cap, len| {
        c!(sealwax_session_id(
            session,
            out,
            cap,
            len,
            ptr::null_mut(),
            error
        ))
    });
    assert!(metadata.contains(&id));
    made::<Identifier>(|place| c!(sealwax_session_verify(view, [id], place, error)));
    let renewed = text(|out, cap, len| {
        c!(sealwax_session_renew(
            view,
            ptr::null(),
            session,
            ["bye"],
            out,
            cap,
            len,
            error
        ))
    });
    let forked = text(|out, cap, len| {
        c!(sealwax_session_fork(
            view,
            ptr::null(),
            session,
            out,
            cap,
            len,
            error
        ))
    });
    assert!(renewed.contains(&id) && !forked.contains(&id));
    for (metadata, expected) in [(&metadata, "hello"), (&renewed, "bye"), (&forked, "hello")] {
        let session = open(metadata);
        let payload = written(|out, cap, len| {
            c!(sealwax_session_payload(
                session,
                out,
                cap,
                len,
                ptr::null_mut(),
                error
            ))
        });
        assert_eq!(payload, expected.as_bytes());
        c!(sealwax_session_free(session.cast_mut()));
    }
    c!(sealwax_session_free(session.cast_mut()));
    let minted = text(|out, cap, len| c!(sealwax_session_mint(view, out, cap, len, error)));
    assert!(minted.contains("expiresAt"));
}

#[test]
fn documents() {
    let mut world = World::new();
    let error = world.error();
    let fields =
        text(|out, cap, len| c!(sealwax_token_fields(["tools/list"], out, cap, len, error)));
    assert!(fields.contains("nextCursor"));
    let claims = r#"{"iss":"i","sub":"s\u00e9","azp":"c"}"#;
    let parts = text(|out, cap, len| {
        c!(sealwax_principal_from_claims(
            [claims],
            out,
            cap,
            len,
            error
        ))
    });
    assert_eq!(parts, r#"{"client":"c","issuer":"i","subject":"sé"}"#);
    let answer = text(|out, cap, len| {
        c!(sealwax_answer(
            ["mcp-session-id"],
            SEALWAX_EXPIRED,
            [[255]],
            out,
            cap,
            len,
            error
        ))
    });
    assert_eq!(answer, r#"{"httpStatus":404}"#);
    let judged = text(|out, cap, len| {
        let open = r#"{"script":"open","keys":["began","fence"],"args":[]}"#;
        c!(sealwax_ledger_judge(
            [open],
            1_800_000_000,
            ["[null,null]"],
            out,
            cap,
            len,
            error
        ))
    });
    assert!(judged.contains("\"reply\":[\"ok\""), "{judged}");
    let context: [u8; 32] = made(|context| {
        c!(sealwax_request_context(
            ["tools/call"],
            ["t"],
            [],
            context,
            error
        ))
    });
    assert_ne!(context, [0; 32]);
}

#[test]
fn sizes_that_no_memory_has() {
    let mut world = World::new();
    let (error, view) = (world.error(), world.alice.cast_const());
    let (one, mut len) = (b"x".as_ptr(), 0);
    for size in [usize::MAX, isize::MAX.unsigned_abs() + 1] {
        let status = c!(sealwax_seal(
            view,
            ptr::from_ref(&SESSION),
            ptr::null(),
            one,
            size,
            ptr::null_mut(),
            0,
            &raw mut len,
            error
        ));
        assert_eq!(status, SEALWAX_INVALID_ARGUMENT);
        let mut ring = ptr::null_mut();
        let keys = [ptr::null()];
        let status = c!(sealwax_ring_new(
            keys.as_ptr(),
            size / 2,
            &raw mut ring,
            error
        ));
        assert_eq!(status, SEALWAX_INVALID_ARGUMENT);
        let name = c"a".as_ptr();
        let mut context = [0; 32];
        let status = c!(sealwax_request_context_only(
            ["tools/call"],
            ["t"],
            ["{}"],
            &raw const name,
            size / 2,
            &raw mut context,
            error
        ));
        assert_eq!(status, SEALWAX_INVALID_ARGUMENT);
    }
    // A capacity that no buffer has is no fault: only what fits a result is written.
    let mut out = [0_u8; 64];
    let status = c!(sealwax_mint_session_id(
        view,
        out.as_mut_ptr().cast(),
        usize::MAX,
        &raw mut len,
        ptr::null_mut(),
        error
    ));
    assert_eq!((status, len), (SEALWAX_OK, SEALWAX_SESSION_ID_LEN));
}
