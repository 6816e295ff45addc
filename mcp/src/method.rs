//! The names of methods, for those who count.

/// Returns whether a method is none of the protocol's, of any revision or proposal that the guard knows.
/// Those are a server's own, or a client made them up: a metric must not grow by their names.
pub(super) fn is_custom(method: &str) -> bool {
    !matches!(
        method,
        "completion/complete"
            | "initialize"
            | "logging/setLevel"
            | "notifications/cancelled"
            | "notifications/initialized"
            | "notifications/progress"
            | "notifications/roots/list_changed"
            | "ping"
            | "prompts/get"
            | "prompts/list"
            | "resources/directory/read"
            | "resources/list"
            | "resources/read"
            | "resources/subscribe"
            | "resources/templates/list"
            | "resources/unsubscribe"
            | "server/discover"
            | "session/terminate"
            | "sessions/create"
            | "sessions/delete"
            | "skills/get"
            | "skills/list"
            | "subscriptions/listen"
            | "tasks/cancel"
            | "tasks/get"
            | "tasks/list"
            | "tasks/result"
            | "tasks/update"
            | "tools/call"
            | "tools/list"
    )
}
