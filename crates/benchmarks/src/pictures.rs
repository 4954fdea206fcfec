//! Addresses of the pictures of images on another site.

use askama::Template;
use axum::http::{HeaderValue, header};
use axum::response::Response;
use capeval_site::prelude::*;
use capeval_site::web::middleware;

/// The longest address.
const LONGEST: usize = 500;

/// The address of the picture of an image.
pub fn of_image(pictures: &str, image: &str) -> String {
    let padded = |digits: usize| format!("{image:0>digits$}");
    pictures.replace("{id:012}", &padded(12)).replace("{id}", &encode(image))
}

/// Fills the template of a page that shows these pictures, which its policy allows.
pub fn show(page: &Page, template: &impl Template, pictures: &str) -> Result<Response> {
    let mut shown = page.show(template)?;
    if !pictures.is_empty()
        && let Ok(policy) = HeaderValue::from_str(&middleware::policy_with_pictures(origin(pictures)))
    {
        shown.headers_mut().insert(header::CONTENT_SECURITY_POLICY, policy);
    }
    Ok(shown)
}

/// The origin of pictures, as policies of pages name it.
fn origin(pictures: &str) -> &str {
    let host = pictures.find("://").map_or(0, |place| place + 3);
    let end = pictures[host..].find('/').map_or(pictures.len(), |place| host + place);
    &pictures[..end]
}

/// The address of pictures with `{id}` in the place of the id of the image, as people write it.
pub fn checked(address: &str) -> Result<&str> {
    let pictures = address.trim();
    let is_plain = pictures.chars().all(|c| c.is_ascii_graphic() && !"\"'<>;,\\".contains(c));
    let host = pictures.strip_prefix("https://").and_then(|rest| rest.split('/').next());
    let is_host = host.is_some_and(|host| {
        !host.is_empty() && host.chars().all(|c| c.is_ascii_alphanumeric() || ".-:".contains(c))
    });
    if !is_plain || !is_host || !pictures.contains("{id") || pictures.len() > LONGEST {
        return Err(fault! {
            UNPROCESSABLE_ENTITY, "pictures",
            "The address of the pictures must begin with https:// and have {} in place of the image ID.",
            "{id}"
        });
    }
    Ok(pictures)
}
