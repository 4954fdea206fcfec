//! The second factor: codes of six digits that an authenticator app makes of a secret and the time (RFC 6238).

use data_encoding::BASE32_NOPAD;
use hmac::{Hmac, KeyInit, Mac};
use serde_json::json;
use sha1::Sha1;

use crate::fault::{Fault, Result};
use crate::store::{Error, Store, Tx};
use crate::{args, audit, clock, columns, fault, ids};

/// The milliseconds for which a code stands.
const STEP: i64 = 30_000;

/// The number of steps by which the clock of a telephone may be off.
const DRIFT: i64 = 1;

/// The bytes of a secret.
const LENGTH: usize = 20;

/// A new secret of 160 random bits, in base 32.
pub fn new_secret() -> std::io::Result<String> {
    let mut bytes = [0; LENGTH];
    ids::random(&mut bytes)?;
    Ok(BASE32_NOPAD.encode(&bytes))
}

/// Returns true if a text is a secret.
pub fn is_secret(text: &str) -> bool {
    of_base_32(text).is_some()
}

fn of_base_32(text: &str) -> Option<Vec<u8>> {
    BASE32_NOPAD.decode(text.as_bytes()).ok().filter(|secret| secret.len() == LENGTH)
}

/// The code of a step of time.
fn code(secret: &[u8], step: i64) -> Option<String> {
    let mut mac = Hmac::<Sha1>::new_from_slice(secret).ok()?;
    mac.update(&step.to_be_bytes());
    let sum = mac.finalize().into_bytes();
    let offset = usize::from(sum[19] & 15);
    let four = [sum[offset] & 127, sum[offset + 1], sum[offset + 2], sum[offset + 3]];
    Some(format!("{:06}", u32::from_be_bytes(four) % 1_000_000))
}

/// The step whose code `given` is, if it comes after `last` and is close to the time.
fn step_of(secret: &str, given: &str, last: i64, now: i64) -> Option<i64> {
    let secret = of_base_32(secret)?;
    let given: String = given.chars().filter(|c| !c.is_whitespace()).collect();
    let steps = now / STEP - DRIFT..=now / STEP + DRIFT;
    steps.filter(|step| *step > last).find(|step| code(&secret, *step).as_ref() == Some(&given))
}

/// The address that authenticator apps know a secret by.
pub fn address(site: &str, email: &str, secret: &str) -> String {
    let (site, email) = (crate::web::encode(site).replace('/', "%2F"), crate::web::encode(email));
    format!("otpauth://totp/{site}:{email}?secret={secret}&issuer={site}")
}

/// Returns true if an account has a second factor.
pub async fn is_on(store: &Store, account: &str) -> Result<bool, Error> {
    let sql = "SELECT 1 FROM account WHERE id = $1 AND totp_secret IS NOT NULL";
    store.exists(sql, args![account]).await
}

fn wrong() -> Fault {
    fault!(UNPROCESSABLE_ENTITY, "code", "The code is incorrect or has already been used.")
}

/// Uses a code up. An account without a second factor needs none.
pub async fn take(tx: &mut Tx, account: &str, given: &str) -> Result<()> {
    let sql = "SELECT totp_secret, totp_step FROM account WHERE id = $1";
    let known: Option<(Option<String>, i64)> = tx.fetch_optional(sql, args![account]).await?;
    let (secret, last) = known.ok_or_else(Fault::not_found)?;
    let Some(secret) = secret else { return Ok(()) };
    let step = step_of(&secret, given, last, clock::now()).ok_or_else(wrong)?;
    let sql = "UPDATE account SET totp_step = $1 WHERE id = $2 AND totp_step < $1";
    if tx.execute(sql, args![step, account]).await? == 1 { Ok(()) } else { Err(wrong()) }
}

/// Gives an account a second factor, if the code is one of the secret.
pub async fn set_up(tx: &mut Tx, account: &str, secret: &str, given: &str) -> Result<()> {
    let step = step_of(secret, given, 0, clock::now()).ok_or_else(wrong)?;
    let sql = "UPDATE account SET totp_secret = $1, totp_step = $2 WHERE id = $3 AND totp_secret IS NULL";
    let changed = tx.execute(sql, args![secret, step, account]).await?;
    if changed == 0 {
        return Err(fault! {
            CONFLICT, "second-factor", "This account already uses two-factor authentication."
        });
    }
    Ok(audit::note(tx, Some(account), "account.second-factor", account, json!({ "is_on": true })).await?)
}

/// Takes the second factor of an account away.
pub async fn remove(tx: &mut Tx, actor: Option<&str>, account: &str) -> Result<()> {
    tx.change_row("account", account, columns! { totp_secret: None::<String> }).await?;
    Ok(audit::note(tx, actor, "account.second-factor", account, json!({ "is_on": false })).await?)
}

/// The code that an app shows now, for tests; `None` if the secret is not one.
pub fn code_now(secret: &str) -> Option<String> {
    code(&of_base_32(secret)?, clock::now() / STEP)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_those_of_the_standard() {
        // RFC 6238, appendix B, whose codes have two digits more.
        let secret = b"12345678901234567890";
        for (seconds, expected) in [
            (59, "287082"),
            (1_111_111_109, "081804"),
            (1_111_111_111, "050471"),
            (1_234_567_890, "005924"),
            (2_000_000_000, "279037"),
            (20_000_000_000, "353130"),
        ] {
            assert_eq!(code(secret, seconds * 1000 / STEP).as_deref(), Some(expected));
        }
        let text = BASE32_NOPAD.encode(secret);
        assert_eq!(text, "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ");
        assert_eq!(of_base_32(&text).unwrap(), secret);
        for wrong in
            ["", "GEZDGNBVGY3TQOJQ", "gezdgnbvgy3tqojqgezdgnbvgy3tqojq", "1EZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"]
        {
            assert_eq!(of_base_32(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_code_works_once_and_near_its_time() {
        let secret = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ";
        let now = 1_234_567_890_000;
        assert_eq!(step_of(secret, " 005 924 ", 0, now), Some(now / STEP));
        assert_eq!(step_of(secret, "005924", 0, now + STEP), Some(now / STEP));
        assert_eq!(step_of(secret, "005924", 0, now + 2 * STEP), None);
        assert_eq!(step_of(secret, "005924", now / STEP, now), None);
        assert_eq!(step_of(secret, "", 0, now), None);
    }
}
