//! Addresses of the pictures of images, which another site has.

use capeval_site::fault;
use capeval_site::fault::Fault;

/// The longest address.
const LONGEST: usize = 500;

/// The address of pictures with `{id}` in the place of the id of the image, as people write it.
pub fn checked(address: &str) -> Result<&str, Fault> {
    let pictures = address.trim();
    let is_plain = pictures.chars().all(|c| c.is_ascii_graphic() && !"\"'<>;,\\".contains(c));
    let host = pictures.strip_prefix("https://").and_then(|rest| rest.split('/').next());
    let is_host = host.is_some_and(|host| {
        !host.is_empty() && host.chars().all(|c| c.is_ascii_alphanumeric() || ".-:".contains(c))
    });
    if !is_plain || !is_host || !pictures.contains("{id") || pictures.len() > LONGEST {
        return Err(fault!(
            UNPROCESSABLE_ENTITY,
            "pictures",
            "The address of the pictures must begin with https:// and have {} in place of the image ID.",
            "{id}"
        ));
    }
    Ok(pictures)
}
