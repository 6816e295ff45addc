//! Tools that their server marks as destructive: when its list is asked for, and what comes of it.

use super::*;
use sealwax_mcp::Failed;

fn marked(clock: &Clock) -> Guard {
    guard_with(clock, |guard| guard.confirm_destructive(false))
}

const SAFE: &str = r#"{"tools":[{"name":"play","annotations":{"readOnlyHint":true}}]}"#;

/// Returns the cursor of the page that a step asks for.
fn asks(step: &Step) -> Option<String> {
    match step {
        Step::List(list) => Some(list.cursor.clone().unwrap_or_default()),
        _ => None,
    }
}

/// Returns the step after these pages.
fn listed<'a>(
    guard: &Guard,
    message: Message<'_>,
    pages: impl IntoIterator<Item = &'a str>,
) -> (Exchange, Step) {
    let (mut exchange, mut step) = guard.message(message);
    for page in pages {
        assert!(asks(&step).is_some(), "{step:?}");
        step = exchange.on(Event::Listed(Ok(page))).unwrap();
    }
    (exchange, step)
}

fn runs(step: &Step) -> bool {
    match step {
        Step::Deliver(_) => true,
        Step::Reply(_) => false,
        other => panic!("{other:?}"),
    }
}

fn codes(exchange: &mut Exchange) -> Vec<&'static str> {
    exchange.refused().iter().map(|one| one.code).collect()
}

#[test]
fn a_list_is_asked_for_once_a_minute_and_caller() {
    let clock = clock();
    let guard = marked(&clock);
    assert!(!guard.defers());
    let (_, step) = listed(&guard, call(), [SAFE]);
    assert!(runs(&step));
    clock.pass_ms(59_999);
    assert!(runs(&listed(&guard, call(), []).1));
    clock.pass_ms(1);
    let (_, step) = listed(&guard, call(), []);
    assert_eq!(asks(&step).as_deref(), Some(""));

    // Another caller may have another list.
    let bob = || Message {
        principal: Some(Ok(Principal::subject("bob"))),
        ..call()
    };
    let (_, step) = listed(&guard, bob(), [r#"{"tools":[{"name":"play"}]}"#]);
    assert!(!runs(&step));
    assert!(!runs(&listed(&guard, bob(), []).1));
    assert!(runs(&listed(&guard, call(), [SAFE]).1));
    // A tool that the list has not may be there by now.
    let other = Message {
        target: Some("other"),
        ..call()
    };
    assert!(asks(&listed(&guard, other, []).1).is_some());
}

#[test]
fn what_is_in_doubt_is_asked_about_and_told() {
    let clock = clock();
    let guard = marked(&clock);
    for page in [
        "",
        "[]",
        "{}",
        r#"{"tools":{}}"#,
        r#"{"tools":[],"nextCursor":7}"#,
        r#"{"tools":null}"#,
    ] {
        let (mut exchange, step) = listed(&guard, call(), [page]);
        assert!(!runs(&step), "{page}");
        assert_eq!(codes(&mut exchange)[0], "invalid_argument", "{page}");
    }
    for failed in [
        Failed::Late,
        Failed::Threw("an error".into()),
        Failed::Wrong("it is wrong".into()),
    ] {
        let (mut exchange, _) = listed(&guard, call(), []);
        let step = exchange.on(Event::Listed(Err(failed))).unwrap();
        assert!(!runs(&step));
        let refused = exchange.refused();
        assert!(
            refused[0].message.contains("list_tools"),
            "{}",
            refused[0].message
        );
    }
    // Its own page is in the way of a card alone.
    let own_page = r#"{"tools":[{"name":"play","_meta":{"ui":{"resourceUri":"ui://play"}}}]}"#;
    let cards = r#"{"extensions":{"io.modelcontextprotocol/ui":{"mimeTypes":["text/html;profile=mcp-app"]}}}"#;
    for (capabilities, why) in [("{}", "elicits by a form"), (cards, "a page of its own")] {
        let client = sealwax_mcp::Client {
            capabilities: Some(capabilities),
            ..Default::default()
        };
        let guard = marked(&clock);
        let (mut exchange, _) = guard.message_from(call(), Some(&client));
        exchange.on(Event::Listed(Ok(own_page))).unwrap();
        let message = &exchange.refused()[0].message;
        assert!(message.contains(why), "{message}");
    }
}

#[test]
fn a_list_ends() {
    let clock = clock();
    let guard = marked(&clock);
    let more = r#"{"tools":[],"nextCursor":"more"}"#;
    let pages = || std::iter::repeat_n(more, 63);
    assert!(runs(&listed(&guard, call(), pages().chain([SAFE])).1));

    let guard = marked(&clock);
    let (mut exchange, step) = listed(&guard, call(), pages().chain([more]));
    assert!(!runs(&step));
    assert_eq!(codes(&mut exchange)[0], "invalid_argument");

    let of = |count: usize| {
        let tools = vec![r#"{"name":"play","annotations":{"readOnlyHint":true}}"#; count];
        format!(r#"{{"tools":[{}]}}"#, tools.join(","))
    };
    for (count, is_short) in [(4096, true), (4097, false)] {
        let guard = marked(&clock);
        assert_eq!(runs(&listed(&guard, call(), [&*of(count)]).1), is_short);
    }
}

#[test]
fn a_list_has_half_of_the_time_that_is_left() {
    let clock = clock();
    let guard = marked(&clock);
    let (mut exchange, mut step) = guard.message(call());
    for within in [500, 250] {
        let Step::List(list) = step else {
            panic!("{step:?}")
        };
        assert_eq!(list.within, Duration::from_millis(within));
        clock.pass_ms(within);
        let more = r#"{"tools":[],"nextCursor":"more"}"#;
        step = exchange.on(Event::Listed(Ok(more))).unwrap();
    }
    let guard = marked(&clock);
    let none = Message {
        within: Some(Duration::ZERO),
        ..call()
    };
    let (mut exchange, step) = guard.message(none);
    assert!(!runs(&step));
    assert!(exchange.refused()[0].message.contains("in time"));
}

/// A list that failed before may have had it confirmed.
#[test]
fn a_state_of_a_confirmed_call_opens_where_the_list_is_there() {
    let clock = clock();
    let guard = marked(&clock);
    let client = sealwax_mcp::Client {
        capabilities: Some(r#"{"elicitation":{}}"#),
        responses: Some(
            r#"{"io.github.sealwax/confirm":{"action":"accept","content":{"choice":"yes"}}}"#,
        ),
        can_be_asked: true,
    };
    let (mut exchange, _) = guard.message_from(call(), Some(&client));
    let question = exchange.on(Event::Listed(Err(Failed::Late))).unwrap();
    let state = reply(question).tool.unwrap().request_state.unwrap();
    let again = |token| Message {
        token: ClientValue::Text(token),
        ..call()
    };
    // The words are the tool's name in quotes without a list, and another question with it.
    let (mut exchange, _) = guard.message_from(again(&state), Some(&client));
    assert!(runs(
        &exchange.on(Event::Listed(Err(Failed::Late))).unwrap()
    ));
    let (mut exchange, _) = guard.message_from(again(&state), Some(&client));
    let step = exchange.on(Event::Listed(Ok(SAFE))).unwrap();
    assert!(
        matches!(step, Step::Reply(Reply { tool: Some(_), .. })),
        "{step:?}"
    );
}
