// Added to a copy of rmcp's `handler/server.rs`, whose own `Service` is `Dispatch` then: a server
// is protected as each of its requests is served, if SEALWAX_PROTECT names a file. Each process
// that protects one adds a line there.

/// rmcp's service of a handler.
trait Dispatch: ServerHandler {
    fn handle_request(
        &self,
        request: <RoleServer as ServiceRole>::PeerReq,
        context: RequestContext<RoleServer>,
    ) -> impl Future<Output = Result<<RoleServer as ServiceRole>::Resp, McpError>> + MaybeSendFuture + '_;

    fn handle_notification(
        &self,
        notification: <RoleServer as ServiceRole>::PeerNot,
        context: NotificationContext<RoleServer>,
    ) -> impl Future<Output = Result<(), McpError>> + MaybeSendFuture + '_;

    fn get_info(&self) -> <RoleServer as ServiceRole>::Info;

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]>;
}

impl<H: ServerHandler> Service<RoleServer> for H {
    async fn handle_request(
        &self,
        request: <RoleServer as ServiceRole>::PeerReq,
        context: RequestContext<RoleServer>,
    ) -> Result<<RoleServer as ServiceRole>::Resp, McpError> {
        match guard() {
            Some(guard) => {
                let server = guard.protect(Lent(self));
                Dispatch::handle_request(&server, request, context).await
            }
            None => Dispatch::handle_request(self, request, context).await,
        }
    }

    async fn handle_notification(
        &self,
        notification: <RoleServer as ServiceRole>::PeerNot,
        context: NotificationContext<RoleServer>,
    ) -> Result<(), McpError> {
        match guard() {
            Some(guard) => {
                let server = guard.protect(Lent(self));
                Dispatch::handle_notification(&server, notification, context).await
            }
            None => Dispatch::handle_notification(self, notification, context).await,
        }
    }

    fn get_info(&self) -> <RoleServer as ServiceRole>::Info {
        Dispatch::get_info(self)
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        Dispatch::supported_protocol_versions(self)
    }
}

/// A handler that is lent for one message: the future of the message does not outlive the borrow.
struct Lent<T>(*const T);

// SAFETY: it is a `&T`, but for its lifetime.
unsafe impl<T: Sync> Send for Lent<T> {}
// SAFETY: it is a `&T`, but for its lifetime.
unsafe impl<T: Sync> Sync for Lent<T> {}

impl<T> std::ops::Deref for Lent<T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: the future that made it borrows the handler for as long.
        unsafe { &*self.0 }
    }
}

impl_server_handler_for_wrapper!(Lent);

fn guard() -> Option<&'static crate::sealwax_rmcp::Guard> {
    static GUARD: std::sync::OnceLock<Option<crate::sealwax_rmcp::Guard>> =
        std::sync::OnceLock::new();
    let make = || {
        let count = std::env::var_os("SEALWAX_PROTECT")?;
        let mut count = std::fs::File::options().append(true).create(true).open(count).ok()?;
        std::io::Write::write_all(&mut count, b"1\n").ok()?;
        let ring = sealwax::KeyRing::new([sealwax::Key::generate().ok()?]).ok()?;
        let codec = sealwax::Codec::new(ring, "https://suite.example.com").ok()?;
        let guard =
            crate::sealwax_rmcp::Guard::builder(codec, crate::sealwax_rmcp::anonymous).build();
        Some(guard.expect("a guard"))
    };
    GUARD.get_or_init(make).as_ref()
}
