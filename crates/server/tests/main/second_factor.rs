//! The second factor: set up with a code, asked for at each sign-in, and removed.

use capeval_site::accounts::people::{self, NewAccount};
use capeval_site::accounts::{Role, totp};
use capeval_site::args;

use crate::support::{Database, Page as _, Site, on_both};

on_both! { a_second_factor_is_needed_to_sign_in }

async fn a_second_factor_is_needed_to_sign_in(database: Database) {
    let site = Site::new(database).await;
    let password = site.app.hasher.hash("a long password").await.unwrap();
    let mut tx = site.app.store.begin().await.unwrap();
    let new = NewAccount { email: "hanna@example.org", name: "Hanna", password, role: Role::Host };
    let id = people::add(&mut tx, new).await.unwrap();
    tx.commit().await.unwrap();
    let anybody = site.anybody();
    let sign_in = |code: String| {
        let anybody = anybody.clone();
        async move {
            let fields = [("email", "hanna@example.org"), ("password", "a long password"), ("code", &code)];
            anybody.post("/sign-in", &fields).await
        }
    };
    let signed_in = sign_in(String::new()).await.expect(303);
    let hanna = anybody.with_cookie_of(&signed_in);
    let page = hanna.get("/account").await.expect(200).text;
    let secret = page.field("secret");
    assert!(page.contains(&format!("otpauth://totp/capeval:hanna%40example.org?secret={secret}")));
    let password = ("password", "a long password");
    let set_up = async |secret: &str, code: &str| {
        hanna.post("/account/second-factor", &[("secret", secret), ("code", code), password]).await
    };
    let refused = set_up(secret, "000000x").await.expect(422).text;
    assert!(refused.contains("The code is incorrect or has already been used."));
    // The app goes on with the secret that it knows.
    assert!(refused.contains("<details open>") && refused.contains(secret), "{refused}");
    set_up("too short", "000000").await.expect(422);
    // Someone with a stolen session does not lock the owner out.
    let code = totp::code_now(secret).unwrap();
    let guess = [("secret", secret), ("code", code.as_str()), ("password", "a guess")];
    let refused = hanna.post("/account/second-factor", &guess).await.expect(422).text;
    assert!(refused.contains("The password is incorrect.") && refused.contains(secret), "{refused}");
    set_up(secret, &totp::code_now(secret).unwrap()).await.expect(303);
    set_up(secret, &totp::code_now(secret).unwrap()).await.expect(409);
    assert!(!hanna.get("/account").await.expect(200).text.contains(secret));

    // Neither without a code, nor with one that was used, and only once with a new one.
    let refused = sign_in(String::new()).await.expect(401).text;
    assert!(refused.contains("Enter the current code from your authenticator app"));
    sign_in(totp::code_now(secret).unwrap()).await.expect(401);
    let forget = "UPDATE account SET totp_step = 0 WHERE id = $1";
    site.app.store.execute(forget, args![&id]).await.unwrap();
    let racing: Vec<_> = (0..8).map(|_| tokio::spawn(sign_in(totp::code_now(secret).unwrap()))).collect();
    let mut through = 0;
    for one in racing {
        through += usize::from(one.await.unwrap().status.as_u16() == 303);
    }
    assert_eq!(through, 1);
    // A wrong password says nothing of the second factor.
    let wrong = anybody.post("/sign-in", &[("email", "hanna@example.org"), ("password", "wrong")]).await;
    assert!(wrong.expect(401).text.contains("Email address and password do not match."));

    let remove = async |code: &str, password| {
        hanna.post("/account/second-factor/remove", &[("code", code), password]).await
    };
    remove("1", password).await.expect(422);
    site.app.store.execute(forget, args![&id]).await.unwrap();
    remove(&totp::code_now(secret).unwrap(), ("password", "a guess")).await.expect(422);
    remove(&totp::code_now(secret).unwrap(), password).await.expect(303);
    sign_in(String::new()).await.expect(303);
    let notes = site.app.store.all("SELECT action FROM audit WHERE subject = $1", args![&id]).await.unwrap();
    let count = notes.iter().filter(|row| row.get::<String>("action").unwrap() == "account.second-factor");
    assert_eq!(count.count(), 2);
}
