//! A token, an id or a handle that was changed in any place is refused.

use crate::common::alice;

/// Puts every ASCII character into every place of every text, and so flips every bit of its bytes, too.
#[test]
fn no_changed_character_ever_opens() {
    let alice = alice();
    let token = alice.session().seal(b"payload").unwrap();
    for_each_change(token.as_str(), |text| {
        assert!(alice.session().open(text).is_err(), "{text}");
    });
    let id = alice.mint_session_id().unwrap();
    for_each_change(id.as_str(), |text| {
        assert!(alice.verify_session_id(text, None).is_err(), "{text}");
    });
    let handle = alice.mint_handle("basket").unwrap();
    for_each_change(handle.as_str(), |text| {
        assert!(alice.verify_handle("basket", text, None).is_err(), "{text}");
    });
}

fn for_each_change(text: &str, check: impl Fn(&str)) {
    for at in 0..text.len() {
        let (before, after) = (&text[..at], &text[at + 1..]);
        check(&format!("{before}{after}"));
        for other in (0..128_u8)
            .map(char::from)
            .filter(|other| !text[at..].starts_with(*other))
        {
            check(&format!("{before}{other}{after}"));
            check(&format!("{before}{other}{}", &text[at..]));
        }
        if at + 1 < text.len() && text.as_bytes()[at] != text.as_bytes()[at + 1] {
            check(&format!(
                "{before}{}{}{}",
                &after[..1],
                &text[at..=at],
                &after[1..]
            ));
        }
    }
}
