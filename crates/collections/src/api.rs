//! Collections for programs: to upload pictures and list them, to describe the next one, and to rate captions, by the
//! same rules as on the pages.

use axum::extract::Request;
use capeval_api::{
    AddedCaption, AddedRating, CaptionToRate, DescribeIn, Details, Flaw, NewCaption, NewRating, Picture,
    PictureFile, PictureLanguage, Pictures, ToDescribe, ToRate, UploadedPicture, UploadedPictures,
};
use capeval_site::prelude::*;
use capeval_site::web::Field;

use super::captioning::submit::{self, Outcome, Problem, SubmittedCaption};
use super::captioning::{self, drafts, language};
use super::passes;
use super::ratings::{pages as grades, queue, rate as rating};
use super::records::{self, Image, SeenCollection};
use super::rules::acceptance::Grade;
use super::slots::{self, Need};
use super::upload::intake;

/// The most pictures of a list; the next one begins after the last of them.
const MOST: usize = 100;

pub(super) fn routes() -> Vec<Route> {
    let (read, submit) = (Access::Person(Scope::Read), Access::Person(Scope::Submit));
    let picture = [
        Field::text("game").optional(),
        Field::text("platform").optional(),
        Field::text("licence"),
        Field::text("rights").declares(intake::DECLARATION),
        Field::list("files"),
    ];
    vec![
        get(
            "/api/v1/collections/{slug}/pictures",
            read,
            "List the pictures to describe, 100 at a time",
            list,
        ),
        post("/api/v1/collections/{slug}/pictures", submit, "Upload pictures", upload)
            .upload()
            .takes(picture),
        get(
            "/api/v1/collections/{slug}/to-describe",
            submit,
            "Reserve the next picture to describe",
            to_describe,
        ),
        post("/api/v1/collections/{slug}/captions", submit, "Submit a caption", describe),
        get("/api/v1/collections/{slug}/to-rate", submit, "Reserve the next caption to rate", to_rate),
        post("/api/v1/collections/{slug}/ratings", submit, "Rate the caption you were given", rate),
    ]
}

fn file_of(image: &Image) -> String {
    format!("/api/v1/pictures/{}", image.id)
}

fn picture(image: &Image, needs: &[Need], visitor: &Visitor) -> Picture {
    let needs = || needs.iter().filter(|need| need.image == image.id);
    let of_language = |need: &Need| PictureLanguage {
        language: need.language.clone(),
        accepted_captions: need.accepted,
        captions_per_picture: need.wanted,
    };
    Picture {
        id: image.id.clone(),
        state: image.state.into(),
        reason: image.reason.clone(),
        own: image.uploader.as_ref() == Some(&visitor.id),
        game: image.game.clone(),
        platform: image.platform.clone(),
        licence: image.licence.clone(),
        width: image.width,
        height: image.height,
        accepted_captions: needs().map(|need| need.accepted).sum(),
        captions_per_picture: needs().map(|need| need.wanted).sum(),
        languages: needs().filter(|need| !need.language.is_empty()).map(of_language).collect(),
        file: file_of(image),
    }
}

async fn list(
    app: App,
    visitor: Visitor,
    Visible(seen): Visible<SeenCollection>,
    UrlQuery(place): UrlQuery<Place>,
) -> Result<Answer<Pictures>> {
    let args = args![&seen.collection.id, &visitor.id];
    let Rows { rows: images, after, .. } =
        records::PICTURES.page(&app.store, At { place, most: MOST }, args, |image: &Image| &image.id).await?;
    let (first, last) = match &images[..] {
        [] => ("", ""),
        [first, .., last] => (first.id.as_str(), last.id.as_str()),
        [only] => (only.id.as_str(), only.id.as_str()),
    };
    let needs = slots::needs(&app.store, &seen.collection.id, first, last).await?;
    Ok(Answer::json(&Pictures {
        next: after,
        pictures: images.iter().map(|image| picture(image, &needs, &visitor)).collect(),
    }))
}

async fn upload(
    app: App,
    page: Page,
    visitor: Visitor,
    Visible(seen): Visible<SeenCollection>,
    request: Request,
) -> Result<Either<Created<UploadedPictures>, Answer<UploadedPictures, 422>>> {
    let (about, files) = intake::receive(&app, request).await?;
    let taken = intake::upload(&app, &page, &seen.collection, &visitor, (&about, files)).await?;
    let is_any_taken = taken.iter().any(|one| one.outcome.is_ok());
    let pictures = taken.into_iter().map(|one| match one.outcome {
        Ok(id) => UploadedPicture { name: one.name, id: Some(id), ..UploadedPicture::default() },
        Err(fault) => UploadedPicture {
            name: one.name,
            code: Some(fault.code.to_owned()),
            problem: Some(page.fault(&fault)),
            id: None,
        },
    });
    let uploaded = UploadedPictures { pictures: pictures.collect() };
    Ok(match is_any_taken {
        true => Either::One(Answer::json(&uploaded)),
        false => Either::Other(Answer::json(&uploaded)),
    })
}

async fn to_describe(
    app: App,
    page: Page,
    visitor: Visitor,
    Visible(seen): Visible<SeenCollection>,
    UrlQuery(DescribeIn { language }): UrlQuery<DescribeIn>,
) -> Result<Answer<ToDescribe>> {
    passes::require(&app.store, &seen, &visitor).await?;
    let collection = &seen.collection;
    let is_known = collection.languages.contains(&language);
    if !language.is_empty() && !is_known {
        let known = collection.languages.join(", ");
        return Err(fault!(UNPROCESSABLE_ENTITY, "choice", "`{}` is not one of {}.", language, known));
    }
    let asked = (language.as_str(), None);
    let (language, assigned) = captioning::next(&app, collection, &visitor.id, &page, asked).await?;
    let Some(assigned) = assigned else {
        return Ok(Answer::json(&ToDescribe::default()));
    };
    let image: Image = records::by_id(&app.store, &assigned.image).await?;
    let needs = slots::needs(&app.store, &collection.id, &image.id, &image.id).await?;
    Ok(Answer::json(&ToDescribe {
        picture: Some(picture(&image, &needs, &visitor)),
        language: collection.is_by_language().then_some(language),
        draft: drafts::find(&app.store, &image.id, &visitor.id).await?,
        reserved_until: Some(clock::time(assigned.expires_at)),
    }))
}

async fn describe(
    app: App,
    page: Page,
    visitor: Visitor,
    Visible(seen): Visible<SeenCollection>,
    Body(given): Body<NewCaption>,
) -> Result<Created<AddedCaption>> {
    passes::require(&app.store, &seen, &visitor).await?;
    let image: Image = seen.contribution(&app.store, &given.image).await?;
    drafts::require_short(&given.text)?;
    let language = language(&app.store, &seen.collection, &visitor.id, &page, &given.language).await?;
    let caption = SubmittedCaption {
        collection: &seen.collection,
        image: &image.id,
        language: &language,
        text: &given.text,
    };
    match submit::submit(&app, &visitor, &caption).await? {
        Outcome::Taken(id) => Ok(Created::json(&AddedCaption { id })),
        Outcome::Refused(problems) => Err(rejected(&page, &problems)),
        Outcome::Gone => Err(fault!(CONFLICT, "picture-gone", "This picture has been removed.")),
        Outcome::Full => {
            Err(fault!(CONFLICT, "picture-complete", "Others have already completed this picture."))
        }
        Outcome::Again => Err(fault!(CONFLICT, "described", "You have already described this picture.")),
    }
}

/// The fault of a caption that breaks rules, with all of them.
fn rejected(page: &Page, problems: &[Problem]) -> Fault {
    let texts: Vec<&str> = problems.iter().map(|problem| problem.text(page.language)).collect();
    let fault = fault!(UNPROCESSABLE_ENTITY, "caption", "The caption was rejected: {}", texts.join(" "));
    let flaws = problems.iter().map(|problem| Flaw {
        code: problem.code().to_owned(),
        text: problem.text(page.language).to_owned(),
    });
    fault.more(Details { problems: Some(flaws.collect()), ..Details::default() })
}

async fn to_rate(app: App, visitor: Visitor, seen: Visible<SeenCollection>) -> Result<Answer<ToRate>> {
    passes::require(&app.store, &seen, &visitor).await?;
    let found = queue::next(&app.store, &seen.collection.id, &visitor.id).await?;
    // Nothing says whose a caption is, or whether its grade is known.
    let caption = found.map(|of| CaptionToRate {
        item: of.item,
        picture: PictureFile { file: file_of(&of.image), id: of.image.id },
        language: of.language,
        text: of.text,
    });
    Ok(Answer::json(&ToRate { caption }))
}

async fn rate(
    app: App,
    visitor: Visitor,
    Visible(seen): Visible<SeenCollection>,
    Body(given): Body<NewRating>,
) -> Result<Created<AddedRating>> {
    passes::require(&app.store, &seen, &visitor).await?;
    let collection = seen.collection.id.as_str();
    let grade = Grade::new(given.grade).ok_or_else(grades::not_a_grade)?;
    let held = queue::held(&app.store, collection, &visitor.id).await?;
    if held.is_none_or(|held| held.item != given.item) {
        return Err(fault!(CONFLICT, "not-given", "You can rate only the caption you were given last."));
    }
    let tags = grades::known_tags(&given.errors);
    let rated = rating::NewRating { collection, account: &visitor.id, grade, tags };
    if !rating::rate_held(&app.store, &given.item, &rated).await? {
        return Err(fault! {
            CONFLICT, "not-rated",
            "You have already rated this caption, or it can no longer be rated. Ask for the next one."
        });
    }
    Ok(Created::json(&AddedRating {}))
}
