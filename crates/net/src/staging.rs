//! Names of the hidden tables that loads fill before they take the target's place.

use inrush_core::unique;

/// What every hidden table's name begins with; digits of base 16 follow.
pub const PREFIX: &str = "inrush_staging_";

/// A name that no other load has.
pub fn hidden_name() -> String {
    format!("{PREFIX}{}", unique::word())
}

/// A message of the server with the table's name in place of the hidden one's.
pub fn unhidden(message: &str, table: &str) -> String {
    let mut parts = message.split(PREFIX);
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let digits = part.bytes().take_while(u8::is_ascii_hexdigit).count();
        out.push_str(table);
        out.push_str(&part[digits..]);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_message_shows_a_hidden_name() {
        let (hidden, other) = (hidden_name(), hidden_name());
        assert_ne!(hidden, other);
        let message = format!("'7' for key '{hidden}.PRIMARY', and `{other}_old`.`n`");
        assert_eq!(unhidden(&message, "t"), "'7' for key 't.PRIMARY', and `t_old`.`n`");
        assert_eq!(unhidden("nothing of ours", "t"), "nothing of ours");
    }
}
