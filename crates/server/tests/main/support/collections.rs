//! A collection whose pictures and captions come straight from the test.

use capeval_collections::{records, slots};
use capeval_site::store::Row;
use capeval_site::{args, clock, ids};

use super::{Client, Page, Site};

/// A collection in the database.
pub struct Collection {
    pub id: String,
    pub slug: String,
}

impl Collection {
    /// An open collection with `host` as its host.
    pub async fn new(site: &Site, slug: &str, wanted: i64, host: &str) -> Self {
        let id = ids::new_id();
        let goals = serde_json::json!([{ "language": "", "captions": wanted, "target": 10 }]);
        let store = &site.app.store;
        store
            .execute(
                "INSERT INTO collection (id, slug, title, summary, guide, visibility, state, languages, licences, \
                 goals, approvals, own_pictures, releases, created_at) VALUES ($1, $2, 'Screens', \
                 'Screenshots of games.', '', 'public', 'open', '[\"zh\",\"en\"]', '[\"CC-BY-4.0\"]', $3, 10, 0, \
                 'contributors', $4)",
                args![&id, slug, goals.to_string(), clock::now()],
            )
            .await
            .unwrap();
        store
            .execute(
                "INSERT INTO collection_staff (collection, account, duty) VALUES ($1, $2, 'host')",
                args![&id, host],
            )
            .await
            .unwrap();
        Self { id, slug: slug.to_owned() }
    }

    /// A picture that people may describe.
    pub async fn picture(&self, site: &Site, uploader: &str, game: &str, seed: u64) -> String {
        let id = ids::new_id();
        let bytes = format!("picture {seed}");
        let blob = site.app.blobs.put(bytes.as_bytes()).unwrap();
        let phash = format!("{:016x}", (seed + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let mut tx = site.app.store.begin().await.unwrap();
        tx
            .execute(
                "INSERT INTO image (id, collection, uploader, licence, game, platform, source_hash, blob, thumb, kind, \
                 width, height, size, phash, split_group, state, shuffle, created_at) \
                 VALUES ($1, $2, $3, 'CC-BY-4.0', $4, 'PC', $5, $5, $5, 'image/png', 640, 360, $6, $7, $8, 'pending', \
                 $9, $10)",
                args![
                    &id,
                    &self.id,
                    uploader,
                    game,
                    &blob,
                    bytes.len(),
                    phash,
                    format!("{uploader} {game}"),
                    seed as i64,
                    clock::now()
                ],
            )
            .await
            .unwrap();
        slots::open(&mut tx, &id).await.unwrap();
        tx.commit().await.unwrap();
        id
    }

    /// A caption that waiting for ratings.
    pub async fn caption(
        &self,
        site: &Site,
        image: &str,
        author: &str,
        language: &str,
        text: &str,
    ) -> String {
        let id = ids::new_id();
        let mut tx = site.app.store.begin().await.unwrap();
        let script = if language == "zh" { "hans" } else { "" };
        tx.execute(
            "INSERT INTO caption (id, collection, image, author, language, script, text, text_norm, characters, words, \
             warnings, state, ratings, ratings_wanted, shuffle, created_at, changed_at) \
             VALUES ($1, $2, $3, $4, $5, $6, $7, $7, 1, 1, '[]', 'submitted', 0, 2, 5, $8, $8)",
            args![&id, &self.id, image, author, language, script, text, clock::now()],
        )
        .await
        .unwrap();
        let taken = "UPDATE image_slots SET taken = taken + 1 WHERE image = $1 AND language IN ('', $2)";
        tx.execute(taken, args![image, language]).await.unwrap();
        tx.commit().await.unwrap();
        id
    }

    /// Lets people rate.
    pub async fn pass_quiz(&self, site: &Site, accounts: &[String]) {
        for account in accounts {
            let sql = "INSERT INTO quiz (collection, account, attempts, passed_at) VALUES ($1, $2, 1, 1)";
            site.app.store.execute(sql, args![&self.id, account]).await.unwrap();
        }
    }

    /// The caption that a person is asked to rate: the id and the text; nothing if there is none.
    pub async fn to_rate(&self, client: &Client) -> Option<(String, String)> {
        let page = client.get(&format!("/c/{}/rate", self.slug)).await.expect(200).text;
        let item = page.part("name=\"item\" value=\"", "\"")?.to_owned();
        let text = page.part("<blockquote", "</blockquote>")?;
        Some((item, text.split_once('>').unwrap().1.to_owned()))
    }

    /// Grades what a person is given, by its text, until there is nothing left; returns how much it was.
    pub async fn rate_all(&self, client: &Client, grade: impl Fn(&str) -> i64) -> usize {
        let mut done = 0;
        while let Some((item, text)) = self.to_rate(client).await {
            let grade = grade(&text).to_string();
            let path = format!("/c/{}/rate", self.slug);
            client.post(&path, &[("item", &item), ("grade", &grade), ("tag", "count")]).await.expect(303);
            done += 1;
            assert!(done < 2_000, "the captions do not end");
        }
        done
    }
}

/// The first row of a query.
pub async fn row(site: &Site, sql: &'static str, value: &str) -> Row {
    site.app.store.first(sql, args![value]).await.unwrap().unwrap()
}

/// A number that a query gives.
pub async fn number(site: &Site, sql: &'static str, value: &str) -> i64 {
    row(site, sql, value).await.get("n").unwrap()
}

/// The state of a caption.
pub async fn state_of(site: &Site, caption: &str) -> String {
    let caption: records::Caption = records::by_id(&site.app.store, caption).await.unwrap();
    caption.state.name().to_owned()
}
