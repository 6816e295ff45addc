//! What the author's functions are told of tokens that are not refused.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rmcp::model::*;
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use sealwax_rmcp::{Guard, TokenEvent, from_claims};
use serde_json::json;

use crate::clients::{client, raw};
use crate::serving::{fresh, serve};

/// What a function was told, and how long after the handler.
type Told = Arc<Mutex<Vec<(TokenEvent, Duration)>>>;

/// Its lists have a second page.
#[derive(Clone, Default)]
struct Pages {
    /// When a handler returned.
    returned: Arc<Mutex<Option<Instant>>>,
}

impl ServerHandler for Pages {
    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let mut list = ListToolsResult::with_all_items(vec![]);
        list.next_cursor = Some("2".into());
        *self.returned.lock().unwrap() = Some(Instant::now());
        Ok(list)
    }

    async fn on_custom_request(
        &self,
        _: CustomRequest,
        _: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        *self.returned.lock().unwrap() = Some(Instant::now());
        Ok(CustomResult::new(json!({"nextCursor": "2"})))
    }
}

#[tokio::test]
async fn every_function_is_told_the_method_and_how_long_the_guard_took() {
    let server = Pages::default();
    let told: [Told; 2] = Default::default();
    let mut guard = Guard::builder(fresh(), from_claims);
    for told in &told {
        let (told, returned) = (Arc::clone(told), Arc::clone(&server.returned));
        guard = guard.on_event(move |event| {
            let since = returned.lock().unwrap().unwrap().elapsed();
            told.lock().unwrap().push((event.clone(), since));
        });
    }
    let guard = guard.build().unwrap();
    let alice = client(&serve(guard.protect(server)).await, "alice").await;
    alice.list_tools(None).await.unwrap();
    raw(&alice, "notes/list", json!({})).await.unwrap();
    for told in told {
        let told = std::mem::take(&mut *told.lock().unwrap());
        let methods = told
            .iter()
            .map(|(event, _)| (event.method.as_deref(), event.custom_method));
        let methods: Vec<_> = methods.collect();
        assert_eq!(
            methods,
            [(Some("tools/list"), false), (Some("notes/list"), true)]
        );
        // The handler's own time is not the guard's.
        for (event, since) in told {
            assert_eq!(event.event.name(), "sealed");
            assert!(event.took <= since, "{event:?} {since:?}");
        }
    }
}
