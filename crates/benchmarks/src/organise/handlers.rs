//! The pages on which hosts create and change benchmarks, and their API.

use askama::Template;
use axum::extract::Request;
use axum::response::{IntoResponse, Redirect, Response};
use capeval_api::{
    Admission, Benchmark, BoardKind, ColumnKind, FinalRule, MeasureChoice, MetricChoice, MetricChoices,
    PerImage, SetState, Visibility,
};
use capeval_site::prelude::*;
use capeval_site::web::markdown::as_html;
use capeval_site::web::{Field, download};
use capeval_tasks::MeasureInfo;

use super::form;
use super::metrics::choices;
use super::receive::{KeptFile, Parcel};
use crate::counts::Counts as _;
use crate::records::{self, ReferenceSet, SeenBenchmark, SeenPhase};
use crate::settings::{Phase, PhasePlan, Plan};
use crate::source::Source;
use crate::when::When;
use crate::{apply, plan, programs};

pub(crate) fn routes() -> Vec<Route> {
    let host = Access::Host;
    vec![
        get("/host/benchmarks/new", host, "Show the form for a new benchmark", new),
        post("/host/benchmarks", host, "Create a benchmark", create),
        post("/host/benchmarks/preview", host, "Preview the rules of a new benchmark", preview_new),
        post("/host/benchmarks/file", host, "Create or change a benchmark from a file", apply_form).upload(),
        post("/api/v1/host/benchmarks", host, "Create or change a benchmark, with the files it names", apply)
            .upload()
            .takes([Field::text("plan"), Field::list("file").optional()]),
        get("/api/v1/host/metrics", host, "List the metrics that phases may have", metrics),
        get("/b/{slug}/settings", host, "Show a benchmark's settings", edit)
            .and("/api/v1/host/benchmarks/{slug}"),
        post("/b/{slug}/settings", host, "Change a benchmark", change),
        post("/b/{slug}/settings/preview", host, "Preview the rules of a benchmark", preview),
        get("/b/{slug}/benchmark.toml", host, "Export a benchmark as a file", export)
            .sends(200, "application/toml")
            .and("/api/v1/host/benchmarks/{slug}/file"),
        post("/b/{slug}/publish", host, "Publish a draft", publish)
            .and("/api/v1/host/benchmarks/{slug}/publish"),
        post("/b/{slug}/remove", host, "Remove a draft", remove).and("/api/v1/host/benchmarks/{slug}/remove"),
        get("/b/{slug}/new-phase", host, "Show the form for a new phase", new_phase),
        post("/b/{slug}/new-phase", host, "Add a phase", add_phase).upload(),
        post(
            "/api/v1/host/benchmarks/{slug}/phases",
            host,
            "Add or change a phase, with the files it names",
            put_phase,
        )
        .upload()
        .takes([Field::text("plan"), Field::list("file").optional()]),
        get("/b/{slug}/{phase}/host/settings", host, "Show a phase's settings", edit_phase),
        post("/b/{slug}/{phase}/host/settings", host, "Change a phase", change_phase).upload(),
        post("/b/{slug}/{phase}/host/remove", host, "Remove a phase from a draft", remove_phase)
            .and("/api/v1/host/phases/{id}/remove"),
    ]
}

#[derive(Template)]
#[template(path = "organise/benchmark.html")]
struct BenchmarkForm<'a> {
    page: &'a Page,
    plan: &'a Plan,
    is_new: bool,
    /// The rules as they will be shown.
    preview: Option<String>,
    phases: &'a [(Phase, Vec<ReferenceSet>)],
}

async fn show(
    app: &App,
    page: &Page,
    plan: &Plan,
    seen: Option<&SeenBenchmark>,
    preview: Option<String>,
) -> Result<Response> {
    let phases = phases_of(app, seen).await?;
    page.show(&BenchmarkForm { page, plan, is_new: seen.is_none(), preview, phases: &phases })
}

async fn phases_of(app: &App, seen: Option<&SeenBenchmark>) -> Result<Vec<(Phase, Vec<ReferenceSet>)>> {
    let Some(SeenBenchmark { benchmark, .. }) = seen else { return Ok(Vec::new()) };
    let mut phases = records::phases_with_sets(&app.store, Some(&benchmark.id)).await?;
    Ok(phases.remove(&benchmark.id).unwrap_or_default())
}

/// A form with addresses of email in lines, as a plan.
fn typed(plan: Plan) -> Plan {
    let each = |texts: &[String]| -> Vec<String> {
        let lines = texts.iter().flat_map(|text| text.split(['\n', ',', ' ']));
        lines.map(|line| line.trim().to_owned()).filter(|line| !line.is_empty()).collect()
    };
    let text = |text: &str| text.replace("\r\n", "\n");
    Plan {
        hosts: each(&plan.hosts),
        allow: each(&plan.allow),
        block: each(&plan.block),
        rules: text(&plan.rules),
        terms: text(&plan.terms),
        ..plan
    }
}

async fn new(app: App, page: Page, by: Visitor) -> Result<Response> {
    show(&app, &page, &Plan::draft(by.email), None, None).await
}

async fn create(app: App, page: Page, by: Visitor, Body(plan): Body<Plan>) -> Result<Response> {
    let plan = Plan { draft: true, phases: Vec::new(), ..typed(plan) };
    save(&app, &page, &by, &plan, None).await
}

async fn change(
    app: App,
    page: Page,
    by: Visitor,
    Hosted(seen): Hosted<SeenBenchmark>,
    Body(plan): Body<Plan>,
) -> Result<Response> {
    let (slug, draft) = (seen.benchmark.slug.clone(), seen.benchmark.draft);
    let plan = Plan { slug, draft, phases: Vec::new(), ..typed(plan) };
    save(&app, &page, &by, &plan, Some(&seen)).await
}

async fn save(
    app: &App,
    page: &Page,
    by: &Visitor,
    plan: &Plan,
    seen: Option<&SeenBenchmark>,
) -> Result<Response> {
    let slug = if seen.is_some() { Slug::UnusedOrOwn } else { Slug::Unused };
    match apply::apply_without_phases(app, plan, slug, Some(&by.id)).await.map_err(apply::refusal) {
        Ok(()) => Ok(Redirect::to(&format!("/b/{}/settings?done=saved", plan.slug)).into_response()),
        Err(fault) => show(app, &page.refused(fault)?, plan, seen, None).await,
    }
}

async fn preview_new(app: App, page: Page, Body(plan): Body<Plan>) -> Result<Response> {
    show_rules(&app, &page, typed(plan), None).await
}

async fn preview(
    app: App,
    page: Page,
    Hosted(seen): Hosted<SeenBenchmark>,
    Body(plan): Body<Plan>,
) -> Result<Response> {
    show_rules(&app, &page, typed(plan), Some(&seen)).await
}

async fn show_rules(app: &App, page: &Page, plan: Plan, seen: Option<&SeenBenchmark>) -> Result<Response> {
    let draft = seen.is_none_or(|seen| seen.benchmark.draft);
    let slug = seen.map_or_else(|| plan.slug.clone(), |seen| seen.benchmark.slug.clone());
    let plan = Plan { slug, draft, ..plan };
    show(app, page, &plan, seen, Some(as_html(&plan.rules))).await
}

async fn edit(app: App, page: Page, Hosted(seen): Hosted<SeenBenchmark>) -> Result<Answer<Plan>> {
    let plan = Plan::of(&app.store, &seen.benchmark).await?;
    let phases = phases_of(&app, Some(&seen)).await?;
    let form = BenchmarkForm { page: &page, plan: &plan, is_new: false, preview: None, phases: &phases };
    page.shows(&form, || plan.clone())
}

async fn export(app: App, Hosted(seen): Hosted<SeenBenchmark>) -> Result<Response> {
    let text = Plan::of(&app.store, &seen.benchmark).await?.to_toml()?;
    Ok(download::text(plan::FILE, "application/toml", text))
}

async fn publish(
    app: App,
    page: Page,
    by: Visitor,
    Hosted(seen): Hosted<SeenBenchmark>,
) -> Result<Answer<Benchmark>> {
    apply::publish(&app, &seen.benchmark.id, &by.id).await?;
    let slug = &seen.benchmark.slug;
    Ok(page.then(&format!("/b/{slug}?done=published"), &benchmark(&app, slug, &by).await?))
}

async fn remove(app: App, page: Page, by: Visitor, Hosted(seen): Hosted<SeenBenchmark>) -> Result<NoContent> {
    apply::remove_draft(&app, &seen.benchmark, &by.id).await?;
    Ok(page.then("/host?done=removed", &()))
}

async fn benchmark(app: &App, slug: &str, by: &Visitor) -> Result<Benchmark> {
    let seen = records::benchmark(&app.store, slug, Some(by)).await?;
    Ok(records::for_programs(&seen, &phases_of(app, Some(&seen)).await?))
}

async fn metrics(app: App) -> Result<Answer<MetricChoices>> {
    Ok(Answer::json(&choices(&app)?))
}

/// Applies a plan that was sent with its files; returns its slug and whether the benchmark is new.
async fn apply_sent(app: &App, by: &Visitor, request: Request) -> Result<(String, bool)> {
    let parcel = Parcel::receive(app, by, request).await?;
    let mut plan: Plan = parcel.plan()?;
    // Applying it asks again; this comes before the files are compared with those that are there.
    if records::is_taken(&app.store, &plan.slug).await?
        && !records::benchmark(&app.store, &plan.slug, Some(by)).await?.is_host
    {
        return Err(Fault::not_found());
    }
    if plan.hosts.is_empty() {
        plan.hosts.push(by.email.clone());
    }
    let applied = apply::apply(app, &plan, parcel.files(), Some(&by.id)).await.map_err(apply::refusal)?;
    Ok((plan.slug, applied.is_new))
}

async fn apply(
    app: App,
    by: Visitor,
    request: Request,
) -> Result<Either<Created<Benchmark>, Answer<Benchmark>>> {
    let (slug, is_new) = apply_sent(&app, &by, request).await?;
    let shown = benchmark(&app, &slug, &by).await?;
    Ok(if is_new { Either::One(Created::json(&shown)) } else { Either::Other(Answer::json(&shown)) })
}

async fn apply_form(app: App, by: Visitor, request: Request) -> Result<Redirect> {
    let (slug, _) = apply_sent(&app, &by, request).await?;
    Ok(Redirect::to(&format!("/b/{slug}/settings?done=saved")))
}

async fn put_phase(
    app: App,
    by: Visitor,
    Hosted(seen): Hosted<SeenBenchmark>,
    request: Request,
) -> Result<Answer<Benchmark>> {
    let parcel = Parcel::receive(&app, &by, request).await?;
    let plan: PhasePlan = parcel.plan()?;
    let put = apply::put_phase(&app, &seen.benchmark.id, &plan, parcel.files(), Some(&by.id)).await;
    put.map_err(apply::refusal)?;
    Ok(Answer::json(&benchmark(&app, &seen.benchmark.slug, &by).await?))
}

#[derive(Template)]
#[template(path = "organise/phase.html")]
struct PhaseForm<'a> {
    page: &'a Page,
    seen: &'a SeenBenchmark,
    plan: &'a PhasePlan,
    is_new: bool,
    /// True if all of it may change.
    is_free: bool,
    /// The files of the form that was refused.
    kept: &'a [KeptFile],
    sets: &'a [ReferenceSet],
    choices: MetricChoices,
    upload_mib: u64,
    /// True if metrics may be programs here.
    runs_programs: bool,
}

impl PhaseForm<'_> {
    /// Returns true if a metric is chosen.
    fn has(&self, name: &str) -> bool {
        self.plan.metrics.iter().any(|chosen| chosen == name)
    }

    /// The chosen metrics and suites that are not listed, such as those with settings.
    fn others(&self) -> String {
        let is_listed = |name: &&String| {
            self.choices.metrics.iter().any(|metric| metric.name == **name)
                || self.choices.suites.iter().any(|suite| suite.name == **name)
        };
        self.plan.metrics.iter().filter(|name| !is_listed(name)).cloned().collect::<Vec<_>>().join(" ")
    }

    /// Returns true if a measure is one of those of the listed metrics.
    fn lists(&self, key: &str) -> bool {
        let mut measures = self.choices.metrics.iter().flat_map(|metric| &metric.measures);
        measures.any(|measure| measure.key == key)
    }

    /// The measures of the prepared references that no listed metric has: those of a program, and of machines.
    fn own_measures(&self) -> Vec<&MeasureInfo> {
        let main = self.sets.iter().find(|set| Some(&set.name) == self.plan.main_set());
        let measures = main.into_iter().flat_map(|set| &set.measures);
        measures.filter(|measure| measure.group.is_none() && !self.lists(&measure.key)).collect()
    }

    /// Returns true if the measure that ranks is one to choose from.
    fn lists_main(&self) -> bool {
        let main = &self.plan.main_metric;
        self.lists(main) || self.own_measures().iter().any(|measure| measure.key == *main)
    }

    /// An end of a range, as a field of a form has it.
    fn end(&self, end: &Option<f64>) -> String {
        end.map_or_else(String::new, |end| end.to_string())
    }

    fn state(&self, name: &str) -> Option<&ReferenceSet> {
        self.sets.iter().find(|set| set.name == name)
    }

    /// The numbers of rows for more references, of which the first of a new phase must be filled in.
    fn more_references(&self) -> [(usize, bool); 2] {
        let n = self.plan.references.len();
        [(n, n == 0), (n + 1, false)]
    }

    /// Returns true if a file stays as it is: scores depend on it.
    fn is_frozen(&self, file: &Source) -> bool {
        !self.is_free && !matches!(file, Source::Named(_))
    }

    /// The file that came in a field of the form that was refused.
    fn kept(&self, field: &str) -> Option<&KeptFile> {
        self.kept.iter().find(|kept| kept.field == field)
    }

    /// Returns true if more than metrics and their order says how entries are scored and ranked.
    fn sets_scores(&self) -> bool {
        let first = self.plan.references.first().map(|set| &set.name);
        let texts = [self.plan.group_by(), self.plan.rank_by()];
        !self.plan.derive.is_empty()
            || texts.iter().any(|text| !text.is_empty())
            || self.plan.main_set.as_ref().is_some_and(|main| Some(main) != first)
    }

    /// Returns true if some images are public and others are not.
    fn has_halves(&self) -> bool {
        self.plan.public.is_some() || self.plan.public_ids.is_some()
    }

    /// Returns true if the rows from this one on are closed: all but the first set of a phase.
    fn opens_more(&self, row: &usize) -> bool {
        *row == self.plan.references.len().max(1)
    }

    /// The range of the first of a metric's scores.
    fn range(&self, metric: &MetricChoice) -> String {
        let Some(MeasureChoice { min, max, .. }) = metric.measures.first() else { return String::new() };
        max.map_or_else(|| format!("≥ {min}"), |max| format!("{min}–{max}"))
    }

    /// A time in UTC, as a field of a form has it.
    fn local(&self, time: &Option<When>) -> String {
        time.map_or_else(String::new, |time| time.to_string().trim_end_matches('Z').to_owned())
    }
}

fn empty_phase() -> PhasePlan {
    PhasePlan { metrics: ["bleu", "rouge-l", "cider-d"].map(str::to_owned).into(), ..PhasePlan::new("", "") }
}

async fn show_phase(
    app: &App,
    page: &Page,
    seen: &SeenBenchmark,
    plan: &PhasePlan,
    known: Option<&Phase>,
    kept: &[KeptFile],
) -> Result<Response> {
    let sets = match known {
        Some(known) => records::all_sets(&app.store, &known.id).await?,
        None => Vec::new(),
    };
    page.show(&PhaseForm {
        page,
        seen,
        plan,
        is_new: known.is_none(),
        is_free: known.is_none() || seen.benchmark.draft,
        kept,
        sets: &sets,
        choices: choices(app)?,
        upload_mib: app.settings.upload_mib,
        runs_programs: programs::require_allowed(app).is_ok(),
    })
}

async fn new_phase(app: App, page: Page, Hosted(seen): Hosted<SeenBenchmark>) -> Result<Response> {
    show_phase(&app, &page, &seen, &empty_phase(), None, &[]).await
}

async fn edit_phase(app: App, page: Page, Hosted(of): Hosted<SeenPhase>) -> Result<Response> {
    let plan = known_phase(&app, &of).await?;
    show_phase(&app, &page, &of.seen, &plan, Some(&of.phase), &[]).await
}

/// A phase as it is described now.
async fn known_phase(app: &App, of: &SeenPhase) -> Result<PhasePlan> {
    let plan = Plan::of(&app.store, &of.seen.benchmark).await?;
    plan.phase(&of.phase.slug).cloned().ok_or_else(Fault::not_found)
}

async fn add_phase(
    app: App,
    page: Page,
    by: Visitor,
    Hosted(seen): Hosted<SeenBenchmark>,
    request: Request,
) -> Result<Response> {
    save_phase(&app, &page, &by, &seen, None, request).await
}

async fn change_phase(
    app: App,
    page: Page,
    by: Visitor,
    Hosted(of): Hosted<SeenPhase>,
    request: Request,
) -> Result<Response> {
    let known = known_phase(&app, &of).await?;
    save_phase(&app, &page, &by, &of.seen, Some((&of.phase, known)), request).await
}

async fn save_phase(
    app: &App,
    page: &Page,
    by: &Visitor,
    seen: &SeenBenchmark,
    known: Option<(&Phase, PhasePlan)>,
    request: Request,
) -> Result<Response> {
    let (phase, plan) = known.unzip();
    let parcel = Parcel::receive(app, by, request).await?;
    let (typed, fault) = form::phase(&parcel, plan.as_ref());
    let is_taken = phase.is_none()
        && records::phases(&app.store, &seen.benchmark.id)
            .await?
            .iter()
            .any(|known| known.slug == typed.slug);
    let saved = if let Some(fault) = fault {
        Err(fault)
    } else if is_taken {
        Err(fault! {
            CONFLICT, "slug-taken", "This benchmark already has a phase with the address {}.", &typed.slug
        })
    } else {
        let put = apply::put_phase(app, &seen.benchmark.id, &typed, parcel.files(), Some(&by.id)).await;
        put.map_err(apply::refusal)
    };
    match saved {
        Ok(()) => {
            let place = format!("/b/{}/{}/host?done=saved", seen.benchmark.slug, typed.slug);
            Ok(Redirect::to(&place).into_response())
        }
        Err(fault) => {
            let page = &page.refused(fault)?;
            let kept = parcel.keep(app, by)?;
            show_phase(app, page, seen, &typed, phase, &kept).await
        }
    }
}

async fn remove_phase(app: App, page: Page, by: Visitor, of: Hosted<SeenPhase>) -> Result<Answer<Benchmark>> {
    apply::remove_phase(&app, &of.phase, &by.id).await?;
    let slug = &of.seen.benchmark.slug;
    Ok(page.then(&format!("/b/{slug}/settings?done=removed"), &benchmark(&app, slug, &by).await?))
}
