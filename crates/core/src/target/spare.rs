//! A connection that one step is through with and the next one goes on with: to connect takes several round trips, each of which is a
//! while where the server is far.

use std::any::Any;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

/// For how long a connection is kept: servers, and what is on the way to them, end those that are idle for minutes.
const KEPT: Duration = Duration::from_secs(60);

/// Room for one connection.
type Room = Mutex<Option<(Instant, Box<dyn Any + Send>)>>;

/// For how long connections are kept: one piece of work, such as a load with its look at the table before. The last of its clones takes
/// the connection with it.
#[derive(Clone, Default)]
pub struct Lease(Arc<Room>);

impl Lease {
    /// Where connections are kept for as long.
    pub fn spare(&self) -> Spare {
        Spare(Arc::downgrade(&self.0))
    }
}

/// Keeps one connection to a [`Location`](super::Location), for as long as its [`Lease`] lasts. By default there is none.
#[derive(Clone, Default)]
pub struct Spare(Weak<Room>);

impl Spare {
    /// Takes the connection, where one of this type is kept that was in use a minute ago. Whether the server still holds it, the caller
    /// has to look.
    pub fn take<C: 'static>(&self) -> Option<C> {
        let room = self.0.upgrade()?;
        let (since, connection) = room.lock().unwrap_or_else(PoisonError::into_inner).take()?;
        let connection = connection.downcast().ok().filter(|_| since.elapsed() < KEPT)?;
        Some(*connection)
    }

    /// Keeps a connection in which nothing is under way and whose session is as it began. One that there is no room for is dropped.
    pub fn keep<C: Send + 'static>(&self, connection: C) {
        let Some(room) = self.0.upgrade() else { return };
        let mut kept = room.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.is_none() {
            *kept = Some((Instant::now(), Box::new(connection)));
        }
    }
}

/// Places do not differ by the connection that is kept.
impl PartialEq for Spare {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Spare {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_is_kept_until_the_work_ends() {
        let lease = Lease::default();
        let spare = lease.spare();
        assert_eq!(spare.take::<u8>(), None);
        spare.keep(1u8);
        spare.keep(2u8);
        assert_eq!(spare.clone().take::<u8>(), Some(1));
        assert_eq!(spare.take::<u8>(), None);
        spare.keep(3u8);
        drop(lease);
        assert_eq!(spare.take::<u8>(), None);
        spare.keep(4u8);
        assert_eq!(spare.take::<u8>(), None);
    }

    #[test]
    fn one_of_another_kind_is_none() {
        let lease = Lease::default();
        lease.spare().keep(1u8);
        assert_eq!(lease.spare().take::<u16>(), None);
    }
}
