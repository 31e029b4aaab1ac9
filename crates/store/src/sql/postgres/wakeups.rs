//! Listens for notifications of other instances, over a connection of its own.

use std::fmt::{self, Debug};
use std::future::poll_fn;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::mpsc::{Receiver, Sender, channel, error::TrySendError};
use tokio::time::timeout;
use tokio_postgres::{AsyncMessage, Client, Config, Connection, NoTls};

use super::connect::{failed, tls};
use crate::error::StoreError;

/// The channel of a schema's events, as a query. The name of a channel has at most 63 bytes.
const CHANNEL: &str = "SELECT 'epitome_' || md5(current_schema())";

/// The longest time without a question to the database. One that nothing was heard of for so long is asked, so that the end
/// of its connection is noticed; and a waiting caller looks for itself, should a notification have been lost.
const HEARTBEAT: Duration = Duration::from_secs(15);

/// The time that the database has for an answer.
const PATIENCE: Duration = Duration::from_secs(10);

const LISTENING: &str = "listening for events";

/// Listens for published events ([`Exchange::publish`](crate::Exchange::publish)), over a connection of its own.
pub struct Wakeups {
    client: Client,
    heard: Receiver<()>,
}

impl Debug for Wakeups {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Wakeups").finish_non_exhaustive()
    }
}

impl Wakeups {
    pub(super) async fn connect(config: &Config) -> Result<Self, StoreError> {
        // Full is as good as sent: one wake-up is enough for all that was told before it.
        let (tell, heard) = channel(1);
        let client = match tls(config)? {
            Some(tls) => {
                let (client, connection) = config.connect(tls).await.map_err(failed(LISTENING))?;
                tokio::spawn(drive(connection, tell));
                client
            }
            None => {
                let (client, connection) = config.connect(NoTls).await.map_err(failed(LISTENING))?;
                tokio::spawn(drive(connection, tell));
                client
            }
        };
        let row = client.query_one(CHANNEL, &[]).await.map_err(failed(LISTENING))?;
        let name: String = row.try_get(0).map_err(failed(LISTENING))?;
        client.batch_execute(&format!("LISTEN {name}")).await.map_err(failed(LISTENING))?;
        Ok(Self { client, heard })
    }

    /// Waits until events may have been published since the last call: a quarter of a minute at the longest. May be dropped and
    /// called again.
    ///
    /// Errors where the connection is gone: a new one can read the events published meanwhile.
    pub async fn next(&mut self) -> Result<(), StoreError> {
        let gone = |problem: &'static str| StoreError::Database { doing: LISTENING, source: problem.into() };
        match timeout(HEARTBEAT, self.heard.recv()).await {
            Ok(Some(())) => Ok(()),
            Ok(None) => Err(gone("the connection broke")),
            Err(_) => {
                let asked = timeout(PATIENCE, self.client.batch_execute("SELECT 1")).await;
                asked.map_err(|_| gone("the database does not answer"))?.map_err(failed(LISTENING))
            }
        }
    }
}

/// Runs a connection until it ends. Its end is heard as that of the channel.
async fn drive<S, T>(mut connection: Connection<S, T>, tell: Sender<()>)
where
    S: AsyncRead + AsyncWrite + Unpin,
    T: AsyncRead + AsyncWrite + Unpin,
{
    while let Some(Ok(message)) = poll_fn(|context| connection.poll_message(context)).await {
        if matches!(message, AsyncMessage::Notification(_))
            && let Err(TrySendError::Closed(())) = tell.try_send(())
        {
            return;
        }
    }
}
