//! A network with a round trip, for benches that are no cells: `relay 127.0.0.1:5432 20` prints a port of 127.0.0.1 that leads there,
//! 20 ms further away, and goes with its standard input.
#![allow(clippy::print_stdout, reason = "the port is what it has to say")]

use std::error::Error;
use std::io::{self, Read as _};
use std::net::SocketAddr;
use std::time::Duration;

use inrush_bench::relay::Relay;

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let (Some(to), Some(ms)) = (args.next(), args.next()) else {
        return Err("usage: relay ADDRESS:PORT MILLISECONDS".into());
    };
    let (to, ms): (SocketAddr, f64) = (to.parse()?, ms.parse()?);
    let relay = Relay::start(to, Duration::from_secs_f64(ms / 1e3))?;
    println!("{}", relay.port());
    io::stdin().read_to_end(&mut Vec::new())?;
    Ok(())
}
