//! The requests that rmcp has not answered yet. They reach rmcp under our own ids, so that each answer belongs to its
//! request, even if the client reuses or cancels its ids.

use std::collections::HashMap;

use rmcp::model::RequestId;
use serde::Deserialize as _;
use serde_json::Value;
use tokio::sync::oneshot;

use super::Leaving;

/// Open requests by our ids: 1, 2 and so on.
#[derive(Default)]
pub(crate) struct OpenRequests {
    last: i64,
    open: HashMap<i64, Open>,
}

pub(crate) enum Open {
    Client(Box<Request>),
    /// A request of our own, whose answer is not passed on.
    Ours(oneshot::Sender<Value>),
}

/// A request of the client, and what its answer will need.
pub(crate) struct Request {
    /// The client's id.
    pub id: Value,
    /// Whether it is an `initialize`.
    pub begins: bool,
    pub leaving: Leaving,
}

impl OpenRequests {
    /// Adds a request, and returns our id for it.
    pub(crate) fn insert(&mut self, open: Open) -> i64 {
        self.last += 1;
        self.open.insert(self.last, open);
        self.last
    }

    /// Returns the request that rmcp answers. It is open no more.
    pub(crate) fn answered(&mut self, id: &Value) -> Option<Open> {
        self.open.remove(&id.as_i64()?)
    }

    /// Returns the client's id for ours.
    pub(crate) fn client_id(&self, id: &Value) -> Option<&Value> {
        match self.open.get(&id.as_i64()?)? {
            Open::Client(request) => Some(&request.id),
            Open::Ours(_) => None,
        }
    }

    /// Returns our id for the request that the client cancels: the last one with that id. Its answer will be
    /// dropped. An `initialize` cannot be cancelled.
    pub(crate) fn cancelled(&mut self, id: &RequestId) -> Option<i64> {
        let names = |open: &Open| match open {
            Open::Client(it) if !it.begins => {
                RequestId::deserialize(&it.id).is_ok_and(|found| found == *id)
            }
            _ => false,
        };
        let named = self.open.iter().filter(|(_, open)| names(open));
        let last = named.map(|(ours, _)| *ours).max()?;
        self.open.remove(&last);
        Some(last)
    }

    /// Drops all requests: no more answers will come.
    pub(crate) fn close(&mut self) {
        self.open.clear();
    }
}

#[cfg(test)]
mod tests {
    use rmcp::model::RequestId;
    use serde_json::{Value, json};

    use super::{Open, OpenRequests, Request};
    use crate::transport::Leaving;

    fn request(id: Value) -> Open {
        Open::Client(Box::new(Request {
            id,
            begins: false,
            leaving: Leaving::default(),
        }))
    }

    #[test]
    fn a_cancelled_request_is_let_go() {
        let mut requests = OpenRequests::default();
        for _ in 0..1000 {
            let ours = requests.insert(request(json!("x")));
            assert_eq!(requests.cancelled(&RequestId::String("y".into())), None);
            let cancelled = requests.cancelled(&RequestId::String("x".into()));
            assert_eq!(cancelled, Some(ours));
            assert!(requests.answered(&json!(ours)).is_none());
        }
        assert!(requests.open.is_empty());
    }

    #[test]
    fn an_initialize_is_not_cancelled() {
        let mut requests = OpenRequests::default();
        let Open::Client(mut hello) = request(json!(1)) else {
            panic!("expected a client's")
        };
        hello.begins = true;
        let ours = requests.insert(Open::Client(hello));
        assert_eq!(requests.cancelled(&RequestId::Number(1)), None);
        assert!(requests.answered(&json!(ours)).is_some());
    }

    #[test]
    fn ids_are_those_that_rmcp_reads() {
        let mut requests = OpenRequests::default();
        for id in [json!(1), json!("1"), json!(1.0)] {
            requests.insert(request(id));
        }
        assert_eq!(requests.client_id(&json!(3)), Some(&json!(1.0)));
        assert_eq!(requests.cancelled(&RequestId::Number(1)), Some(3));
        assert_eq!(requests.cancelled(&RequestId::Number(1)), Some(1));
        assert_eq!(requests.cancelled(&RequestId::Number(1)), None);
        assert!(requests.answered(&json!(2)).is_some());
    }
}
