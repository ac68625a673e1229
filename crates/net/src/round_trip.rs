//! How long a server takes to answer.

use std::time::{Duration, Instant};

/// The shortest time that an answer has taken: about what the way there and back takes.
#[derive(Clone, Copy, Debug, Default)]
pub struct RoundTrip(Option<Duration>);

impl RoundTrip {
    /// Does what waits for an answer at least once.
    pub fn time<T>(&mut self, work: impl FnOnce() -> T) -> T {
        let began = Instant::now();
        let outcome = work();
        let took = began.elapsed();
        self.0 = Some(self.0.map_or(took, |shortest| shortest.min(took)));
        outcome
    }

    /// That time; `None` where nothing was timed.
    pub fn shortest(self) -> Option<Duration> {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shortest_answer_counts() {
        let mut round_trip = RoundTrip::default();
        assert_eq!(round_trip.shortest(), None);
        let pause = |ms| move || std::thread::sleep(Duration::from_millis(ms));
        round_trip.time(pause(30));
        let first = round_trip.shortest().unwrap();
        assert!(first >= Duration::from_millis(30));
        round_trip.time(pause(5));
        assert!(round_trip.shortest().unwrap() < first);
    }
}
