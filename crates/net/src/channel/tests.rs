use std::net::TcpListener;

use super::*;

/// A server that takes what it is sent, and says nothing.
fn silent() -> (TcpListener, Address) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    (listener, Address::Host("127.0.0.1".to_owned(), port))
}

#[test]
fn what_must_not_be_stopped_halfway_is_not_waited_for_for_ever_once_it_is_to_stop() {
    let (_listener, address) = silent();
    let stop = AtomicBool::new(false);
    let patience = Patience { connect: Duration::from_secs(10), answer: None };
    let mut channel = Channel::connect(&address, patience, Some(&stop)).unwrap();
    channel.logged_in_for_good();
    channel.unwatch();
    channel.watch().last_word = Duration::from_millis(300);
    std::thread::scope(|scope| {
        let began = Instant::now();
        let stop = &stop;
        scope.spawn(move || {
            std::thread::sleep(Duration::from_millis(600));
            stop.store(true, Relaxed);
        });
        let error = channel.read(&mut [0]).unwrap_err();
        assert!(began.elapsed() >= Duration::from_millis(600), "nobody wanted to stop");
        assert!(matches!(Broken::from(error), Broken::Lost(_)), "it is no wish that ended it");
    });
}
