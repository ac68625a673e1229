//! What the steps of one piece of work have in common: a connection that one is through with and the next one goes on with (to connect
//! takes several round trips, each of which is a while where the server is far), and notes for whoever follows the work.

use std::any::Any;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

/// For how long a connection is kept: servers, and what is on the way to them, end those that are idle for minutes.
const KEPT: Duration = Duration::from_secs(60);

/// What is kept.
#[derive(Default)]
struct Room {
    /// Since when, and which.
    connection: Mutex<Option<(Instant, Box<dyn Any + Send>)>>,
    notes: Mutex<Notes>,
}

#[derive(Default)]
struct Notes {
    all: Vec<String>,
    /// How many of them were read.
    read: usize,
}

/// After how long a wait for what others hold is noted: for that long people think nothing of it.
pub const NOTED_AFTER: Duration = Duration::from_secs(3);

/// Of so many notes the rest says nothing new.
const NOTES_MAX: usize = 100;

/// A panic can't leave half of anything in it.
fn lock<T>(room: &Mutex<T>) -> MutexGuard<'_, T> {
    room.lock().unwrap_or_else(PoisonError::into_inner)
}

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

/// Keeps one connection to a [`Location`](super::Location) and what is noted of it, for as long as its [`Lease`] lasts. By default there
/// is none.
#[derive(Clone, Default)]
pub struct Spare(Weak<Room>);

impl Spare {
    /// Takes the connection, where one of this type is kept that was in use a minute ago. Whether the server still holds it, the caller
    /// has to look.
    pub fn take<C: 'static>(&self) -> Option<C> {
        let room = self.0.upgrade()?;
        let (since, connection) = lock(&room.connection).take()?;
        let connection = connection.downcast().ok().filter(|_| since.elapsed() < KEPT)?;
        Some(*connection)
    }

    /// Keeps a connection in which nothing is under way and whose session is as it began. One that there is no room for is dropped.
    pub fn keep<C: Send + 'static>(&self, connection: C) {
        let Some(room) = self.0.upgrade() else { return };
        let mut kept = lock(&room.connection);
        if kept.is_none() {
            *kept = Some((Instant::now(), Box::new(connection)));
        }
    }

    /// Whether the lease lasts, whose holder may read notes.
    pub fn is_followed(&self) -> bool {
        self.0.strong_count() > 0
    }

    /// Notes what whoever follows the work should know now, as what a statement waits for. What was noted before is not noted again.
    pub fn note(&self, what: String) {
        let Some(room) = self.0.upgrade() else { return };
        let mut notes = lock(&room.notes);
        if notes.all.len() < NOTES_MAX && !notes.all.contains(&what) {
            notes.all.push(what);
        }
    }

    /// What was noted since this was asked the last time.
    pub fn notes(&self) -> Vec<String> {
        let Some(room) = self.0.upgrade() else { return Vec::new() };
        let mut notes = lock(&room.notes);
        let unread = notes.all[notes.read..].to_vec();
        notes.read = notes.all.len();
        unread
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
    fn a_note_is_read_once() {
        let lease = Lease::default();
        let spare = lease.spare();
        assert!(spare.is_followed() && spare.notes().is_empty());
        spare.note("a".to_owned());
        spare.clone().note("b".to_owned());
        assert_eq!(spare.notes(), ["a", "b"]);
        spare.note("a".to_owned());
        assert!(spare.notes().is_empty());
        drop(lease);
        spare.note("c".to_owned());
        assert!(!spare.is_followed() && spare.notes().is_empty());
    }

    #[test]
    fn one_of_another_kind_is_none() {
        let lease = Lease::default();
        lease.spare().keep(1u8);
        assert_eq!(lease.spare().take::<u16>(), None);
    }
}
