//! Lists of addresses and domains that a benchmark admits or blocks.

use anyhow::ensure;
use capeval_site::prelude::*;

/// The most entries of a list.
const ENTRIES: usize = 1_000;

/// The entries of a list in the form in which they are compared: addresses, and domains behind an `@`.
pub fn checked(name: &str, list: &[String]) -> anyhow::Result<Vec<String>> {
    ensure!(list.len() <= ENTRIES, reason!("{} has at most {} entries", name, ENTRIES));
    let entries = list.iter().map(|entry| {
        let text = people::canonical(entry);
        // A domain is one if some address in it is an address.
        let address = if text.starts_with('@') { format!("a{text}") } else { text.clone() };
        ensure!(
            people::address(&address).is_ok(),
            reason!("{}: `{}` is neither an email address nor a domain such as @example.org", name, entry)
        );
        Ok(text)
    });
    entries.collect()
}

/// Returns true if an entry stands for an address. A domain stands for those below it, too: who has it, has them.
fn stands_for(entry: &str, email: &str) -> bool {
    let Some(domain) = entry.strip_prefix('@') else { return entry == email };
    let of_email = email.rsplit_once('@').map_or("", |(_, domain)| domain);
    of_email == domain || of_email.strip_suffix(domain).is_some_and(|rest| rest.ends_with('.'))
}

/// Returns true if an address is on no list of those kept out, and on that of those admitted, if there is one.
pub fn admit(allow: &[String], block: &[String], email: &str) -> bool {
    let is_on = |list: &[String]| list.iter().any(|entry| stands_for(entry, email));
    !is_on(block) && (allow.is_empty() || is_on(allow))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(entries: &[&str]) -> Vec<String> {
        checked("allow", &entries.iter().map(|entry| (*entry).to_owned()).collect::<Vec<_>>()).unwrap()
    }

    #[test]
    fn addresses_are_admitted_by_domain_or_one_by_one() {
        let allow = list(&[" @Uni.EDU ", "Ada@Example.org", "@exa\u{308}mple.org"]);
        for email in ["x@uni.edu", "x@cs.uni.edu", "ada@example.org", "x@ex\u{e4}mple.org"] {
            assert!(admit(&allow, &[], email), "{email}");
        }
        for email in ["x@notuni.edu", "bao@example.org", "uni.edu@evil.org", "x@uni.edu.evil.org", ""] {
            assert!(!admit(&allow, &[], email), "{email}");
        }
        let block = list(&["@cs.uni.edu", "eve@uni.edu"]);
        assert!(admit(&allow, &block, "x@uni.edu") && admit(&[], &block, "x@example.org"));
        assert!(!admit(&allow, &block, "x@cs.uni.edu") && !admit(&[], &block, "eve@uni.edu"));
    }

    #[test]
    fn what_is_no_address_is_refused() {
        for wrong in ["", "@", "uni.edu", "@edu", "@@uni.edu", "a b@uni.edu", "*@uni.edu,"] {
            let refused = checked("block", &[wrong.to_owned()]).unwrap_err().to_string();
            assert!(refused.starts_with("block: `"), "{wrong}: {refused}");
        }
        assert!(checked("allow", &vec!["@uni.edu".to_owned(); ENTRIES + 1]).is_err());
    }
}
