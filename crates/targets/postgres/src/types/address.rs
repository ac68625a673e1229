//! Addresses of networks and of their cards: <https://www.postgresql.org/docs/current/datatype-net-types.html>.

use std::net::IpAddr;

use inrush_core::flow::Code;
use inrush_core::value::hex;

use super::number::whole;
use super::store::Misfit;

/// What the server calls the families, whatever its system does.
const FAMILY_4: u8 = 2;
const FAMILY_6: u8 = 3;

/// An address with or without the bits of its network: `10.1.2.3/8`. A network (`cidr`) has no bits but those. The server fills up
/// what is left out of a network (`10.1`): there it can't be told from a mistake.
pub(super) fn encode_inet(
    value: &[u8],
    is_network: bool,
    out: &mut Vec<u8>,
) -> Result<(), Misfit<'static>> {
    let no_address = match is_network {
        false => (Code::Type, "an IP address (10.1.2.3, ::1, 10.1.2.3/8)"),
        true => (Code::Type, "a network (10.0.0.0/8) without bits right of its mask"),
    };
    let slash = memchr::memchr(b'/', value);
    let text = std::str::from_utf8(&value[..slash.unwrap_or(value.len())]);
    let address: IpAddr = text.ok().and_then(|text| text.parse().ok()).ok_or(no_address)?;
    let bits_max = if address.is_ipv4() { 32 } else { 128 };
    let bits = match slash.map(|at| &value[at + 1..]) {
        None => bits_max,
        Some([b'0', _, ..]) => return Err(no_address),
        Some(digits) => match whole(digits) {
            Some(bits @ 0..=128) if bits as u8 <= bits_max => bits as u8,
            _ => return Err(no_address),
        },
    };
    let (address_v4, address_v6);
    let (family, bytes): (u8, &[u8]) = match address {
        IpAddr::V4(address) => {
            address_v4 = address.octets();
            (FAMILY_4, &address_v4)
        }
        IpAddr::V6(address) => {
            address_v6 = address.octets();
            (FAMILY_6, &address_v6)
        }
    };
    if is_network && !ends_in_zeros(bytes, bits) {
        return Err(no_address);
    }
    out.extend_from_slice(&[family, bits, u8::from(is_network), bytes.len() as u8]);
    out.extend_from_slice(bytes);
    Ok(())
}

/// Whether no bit is set from the one of that number on.
fn ends_in_zeros(bytes: &[u8], from: u8) -> bool {
    bytes.iter().zip((0..).step_by(8)).all(|(byte, first)| {
        let kept = u32::from(from).saturating_sub(first).min(8);
        u32::from(*byte) << kept & 0xff == 0
    })
}

/// An address of so many bytes, 6 or 8: two digits each, with the same sign between all of them, between groups of four digits, in the
/// middle, or nowhere.
pub(super) fn encode_card(
    value: &[u8],
    len: usize,
    out: &mut Vec<u8>,
) -> Result<(), Misfit<'static>> {
    let no_address = match len {
        6 => (Code::Type, "a MAC address (08:00:2b:01:02:03)"),
        _ => (Code::Type, "a MAC address of eight bytes (08:00:2b:ff:fe:01:02:03)"),
    };
    let digits_in_all = 2 * len;
    let group = match value.iter().position(|byte| !byte.is_ascii_hexdigit()) {
        None => digits_in_all,
        Some(at) => at,
    };
    let separators: &[u8] = match group {
        2 => b":-",
        4 => b".-",
        // Where the half is four digits, they are a group of the above.
        _ if group == len => b":-",
        _ if group == digits_in_all => b"",
        _ => return Err(no_address),
    };
    let separator = value.get(group).copied();
    if separator.is_some_and(|separator| !separators.contains(&separator)) {
        return Err(no_address);
    }
    let groups = value.split(|byte| Some(*byte) == separator);
    let start = out.len();
    for digits in groups {
        if digits.len() != group {
            return Err(no_address);
        }
        for pair in digits.chunks_exact(2) {
            let (high, low) = hex::digit(pair[0]).zip(hex::digit(pair[1])).ok_or(no_address)?;
            out.push(high << 4 | low);
        }
    }
    if out.len() - start == len { Ok(()) } else { Err(no_address) }
}
