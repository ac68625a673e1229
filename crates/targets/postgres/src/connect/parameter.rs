//! libpq's parameters (<https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-PARAMKEYWORDS>): what each of them is to
//! us, and who may set it (<https://www.postgresql.org/docs/current/libpq-envars.html>).

/// One that libpq knows.
struct Parameter {
    name: &'static str,
    /// The environment variable that sets it, too.
    variable: Option<&'static str>,
    matter: Matter,
}

/// What a parameter is to us.
enum Matter {
    Used,
    /// Whatever it says, a load is the same.
    Idle,
    /// Only so much of it can be had, for a reason.
    Only(&'static [&'static str], &'static str),
    /// It can't be had, for a reason. Leaving it out silently would be less safe than it asks for, or something else.
    Refused(&'static str),
}

use Matter::{Idle, Only, Refused, Used};

const NO_GSS: &str = "connections are not encrypted by GSSAPI; TLS does it";
const NO_IDENTITY: &str = "client certificates are not supported";
const NO_OAUTH: &str = "OAuth is not supported";
const NO_REVOCATION: &str = "revoked certificates are not looked up";

/// Those that the environment may set have their variable, but for what changes nothing of where rows go and how safely: an idle one, the
/// order of the hosts, whether TLS is negotiated, the client's certificate, for which a server that wants one asks.
static KNOWN: [Parameter; 52] = [
    set("host", "PGHOST", Used),
    set("hostaddr", "PGHOSTADDR", Used),
    set("port", "PGPORT", Used),
    set("dbname", "PGDATABASE", Used),
    set("user", "PGUSER", Used),
    set("password", "PGPASSWORD", Used),
    set("passfile", "PGPASSFILE", Used),
    set("service", "PGSERVICE", Used),
    set("servicefile", "PGSERVICEFILE", Used),
    set("sslmode", "PGSSLMODE", Used),
    set("sslrootcert", "PGSSLROOTCERT", Used),
    set("channel_binding", "PGCHANNELBINDING", Used),
    set("connect_timeout", "PGCONNECT_TIMEOUT", Used),
    set("application_name", "PGAPPNAME", Used),
    set("options", "PGOPTIONS", Used),
    set("target_session_attrs", "PGTARGETSESSIONATTRS", Used),
    named("fallback_application_name", Used),
    // Ours: libpq waits for an answer for as long as it takes.
    named("read_timeout", Used),
    named("keepalives", Idle),
    named("keepalives_idle", Idle),
    named("keepalives_interval", Idle),
    named("keepalives_count", Idle),
    named("krbsrvname", Idle),
    named("gsslib", Idle),
    named("gssdelegation", Idle),
    // libpq itself ignores it.
    named("sslcompression", Idle),
    named("max_protocol_version", Idle),
    // What the environment says of an encoding is meant for those who type in it.
    named(
        "client_encoding",
        Only(
            &["utf8", "utf-8", "unicode", "auto"],
            "whatever a file's encoding is, rows are sent as UTF-8",
        ),
    ),
    set("gssencmode", "PGGSSENCMODE", Only(&["disable", "prefer"], NO_GSS)),
    named("load_balance_hosts", Only(&["disable"], "hosts are tried in their order")),
    named("sslnegotiation", Only(&["postgres"], "the server is asked for TLS first")),
    set("sslsni", "PGSSLSNI", Only(&["1"], "the host's name is sent when TLS begins")),
    set(
        "ssl_min_protocol_version",
        "PGSSLMINPROTOCOLVERSION",
        Only(&["TLSv1", "TLSv1.1", "TLSv1.2"], "both TLS 1.2 and 1.3 are offered"),
    ),
    set(
        "ssl_max_protocol_version",
        "PGSSLMAXPROTOCOLVERSION",
        Only(&["TLSv1.3"], "both TLS 1.2 and 1.3 are offered"),
    ),
    set("min_protocol_version", "PGMINPROTOCOLVERSION", Only(&["3.0"], "version 3.0 is spoken")),
    set("sslcertmode", "PGSSLCERTMODE", Only(&["disable", "allow"], NO_IDENTITY)),
    named(
        "tcp_user_timeout",
        Only(&["0"], "it is not supported; read_timeout=SECONDS limits the wait for an answer"),
    ),
    named(
        "replication",
        Only(&["false", "off", "no", "0"], "a connection for replication takes no rows"),
    ),
    named("sslcert", Refused(NO_IDENTITY)),
    named("sslkey", Refused(NO_IDENTITY)),
    named("sslpassword", Refused(NO_IDENTITY)),
    set("sslcrl", "PGSSLCRL", Refused(NO_REVOCATION)),
    set("sslcrldir", "PGSSLCRLDIR", Refused(NO_REVOCATION)),
    named("sslkeylogfile", Refused("keys are not written to files")),
    set("requirepeer", "PGREQUIREPEER", Refused("the owner of a socket is not looked up")),
    set("require_auth", "PGREQUIREAUTH", Refused("the server chooses how it asks for a password")),
    named("scram_client_key", Refused("passwords are given as such")),
    named("scram_server_key", Refused("passwords are given as such")),
    named("oauth_issuer", Refused(NO_OAUTH)),
    named("oauth_client_id", Refused(NO_OAUTH)),
    named("oauth_client_secret", Refused(NO_OAUTH)),
    named("oauth_scope", Refused(NO_OAUTH)),
];

/// What a session begins with that the environment alone may say, and the server's name for it.
const OF_SESSION: [(&str, &str); 3] =
    [("PGDATESTYLE", "datestyle"), ("PGTZ", "timezone"), ("PGGEQO", "geqo")];

/// What the environment has sessions begin with. Sent behind `options`, it stands above them; `default` leaves it to the server.
pub(super) fn of_session(
    variable: impl Fn(&str) -> Option<String>,
) -> impl Iterator<Item = (&'static str, String)> {
    let said = move |(name, setting): (&str, &'static str)| Some((setting, variable(name)?));
    OF_SESSION
        .into_iter()
        .filter_map(said)
        .filter(|(_, value)| !value.eq_ignore_ascii_case("default"))
}

const fn set(name: &'static str, variable: &'static str, matter: Matter) -> Parameter {
    Parameter { name, variable: Some(variable), matter }
}

const fn named(name: &'static str, matter: Matter) -> Parameter {
    Parameter { name, variable: None, matter }
}

/// The names of those that make a difference.
pub(super) fn names() -> String {
    let used = KNOWN.iter().filter(|known| matches!(known.matter, Used));
    used.map(|known| known.name).collect::<Vec<_>>().join(", ")
}

/// What all sources together say. Whatever is set stays: the sources are asked in the order of their rank.
#[derive(Default)]
pub(super) struct Settings(Vec<Setting>);

struct Setting {
    parameter: &'static Parameter,
    /// Empty to have it as if nobody had set it, as in libpq.
    value: String,
    /// What whoever set it calls it.
    called: String,
}

impl Settings {
    /// Sets what isn't set yet.
    ///
    /// # Errors
    /// When the parameter is unknown, or can't be had. No error quotes what may be a password.
    pub(super) fn add(&mut self, name: &str, value: &str, called: String) -> Result<(), Wrong> {
        let known = KNOWN.iter().find(|known| known.name == name);
        let parameter = known.ok_or(Wrong::Unknown)?;
        if value.contains('\0') {
            return Err(Wrong::Refused(format!("{called}: there is a zero byte in it")));
        }
        if self.find(name).is_some() {
            return Ok(());
        }
        match &parameter.matter {
            _ if value.is_empty() => {}
            Used | Idle => {}
            Only(values, _) if values.iter().any(|known| known.eq_ignore_ascii_case(value)) => {}
            Only(values, reason) => {
                let values = values.join(" or ");
                return Err(Wrong::Refused(format!("{called}={value}: takes {values}; {reason}")));
            }
            Refused(reason) => return Err(Wrong::Refused(format!("{called}: {reason}"))),
        }
        self.0.push(Setting { parameter, value: value.to_owned(), called });
        Ok(())
    }

    /// Sets what the environment knows and isn't set yet.
    pub(super) fn add_environment(
        &mut self,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<(), String> {
        for known in &KNOWN {
            if let Some(name) = known.variable
                && let Some(value) = variable(name)
                && let Err(Wrong::Refused(what)) = self.add(known.name, &value, name.to_owned())
            {
                return Err(what);
            }
        }
        Ok(())
    }

    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.find(name).map(|setting| setting.value.as_str()).filter(|value| !value.is_empty())
    }

    /// What whoever set it calls the parameter.
    pub(super) fn called(&self, name: &'static str) -> &str {
        self.find(name).map_or(name, |setting| &setting.called)
    }

    fn find(&self, name: &str) -> Option<&Setting> {
        debug_assert!(KNOWN.iter().any(|known| known.name == name), "{name}");
        self.0.iter().find(|setting| setting.parameter.name == name)
    }
}

/// Why a parameter can't be set.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Wrong {
    Unknown,
    Refused(String),
}
