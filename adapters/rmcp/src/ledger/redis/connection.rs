//! Connections to one server, or to a Cluster.

use redis::aio::{ConnectionLike, MultiplexedConnection};
use redis::{AsyncConnectionConfig, Cmd, Pipeline, RedisError, RedisFuture, Value};

/// The source of connections.
pub(super) enum Source {
    Server(Box<redis::Client>),
    #[cfg(feature = "redis-cluster")]
    Cluster(Box<redis::cluster::ClusterClient>),
}

/// A connection. Its clones take turns to send.
#[derive(Clone)]
pub(super) enum Connection {
    /// Ends with its socket, so that later commands reach the same server.
    Server(MultiplexedConnection),
    #[cfg(feature = "redis-cluster")]
    Cluster(redis::cluster_async::ClusterConnection),
}

impl Source {
    pub(super) async fn connect(&self) -> Result<Connection, RedisError> {
        Ok(match self {
            Self::Server(client) => {
                // The guard has time limits of its own, and a far server is slow to connect to.
                let patient = AsyncConnectionConfig::new()
                    .set_connection_timeout(None)
                    .set_response_timeout(None);
                let connected = client.get_multiplexed_async_connection_with_config(&patient);
                Connection::Server(connected.await?)
            }
            #[cfg(feature = "redis-cluster")]
            Self::Cluster(client) => Connection::Cluster(client.get_async_connection().await?),
        })
    }
}

impl Connection {
    fn inner(&mut self) -> &mut (dyn ConnectionLike + Send) {
        match self {
            Self::Server(connection) => connection,
            #[cfg(feature = "redis-cluster")]
            Self::Cluster(connection) => connection,
        }
    }
}

impl ConnectionLike for Connection {
    fn req_packed_command<'a>(&'a mut self, cmd: &'a Cmd) -> RedisFuture<'a, Value> {
        self.inner().req_packed_command(cmd)
    }

    fn req_packed_commands<'a>(
        &'a mut self,
        cmd: &'a Pipeline,
        offset: usize,
        count: usize,
    ) -> RedisFuture<'a, Vec<Value>> {
        self.inner().req_packed_commands(cmd, offset, count)
    }

    fn get_db(&self) -> i64 {
        0
    }
}
