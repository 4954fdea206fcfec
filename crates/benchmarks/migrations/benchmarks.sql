-- Benchmarks, their phases with hidden references, and what hosts tell those who take part.

CREATE TABLE benchmark (
    id TEXT PRIMARY KEY,
    slug TEXT NOT NULL UNIQUE,
    title TEXT NOT NULL,
    summary TEXT NOT NULL,
    rules TEXT NOT NULL,
    visibility TEXT NOT NULL CHECK (visibility IN ('public', 'registered', 'hidden')),
    created_at BIGINT NOT NULL,
    -- Whether only hosts see it, until it is published.
    draft BIGINT NOT NULL DEFAULT 0,
    -- How to cite it, in BibTeX; empty for what its title and address make.
    citation TEXT NOT NULL DEFAULT '',
    -- The terms as they are now, in Markdown, empty if there are none; and their version, which is raised to ask again.
    terms TEXT NOT NULL DEFAULT '',
    terms_version BIGINT NOT NULL DEFAULT 1,
    admission TEXT NOT NULL DEFAULT 'open' CHECK (admission IN ('open', 'approval')),
    -- The addresses, and domains behind an @, that may take part, or may not, as JSON.
    allow TEXT NOT NULL DEFAULT '[]',
    block TEXT NOT NULL DEFAULT '[]',
    -- The most members of a team; 0 for as many as the site allows.
    team_size BIGINT NOT NULL DEFAULT 0,
    -- Whom to ask: an email address or a page; empty if it is not told.
    contact TEXT NOT NULL DEFAULT '',
    -- The colour of a line below headings, such as #2c63c7; empty for none.
    accent TEXT NOT NULL DEFAULT '',
    -- The logo, encoded again, and its media type.
    logo_hash TEXT,
    logo_kind TEXT NOT NULL DEFAULT '',
    -- The pages that its hosts wrote, as JSON.
    pages TEXT NOT NULL DEFAULT '[]'
);

CREATE TABLE benchmark_host (
    benchmark TEXT NOT NULL REFERENCES benchmark (id) ON DELETE CASCADE,
    account TEXT NOT NULL REFERENCES account (id) ON DELETE CASCADE,
    PRIMARY KEY (benchmark, account)
);

CREATE TABLE phase (
    id TEXT PRIMARY KEY,
    benchmark TEXT NOT NULL REFERENCES benchmark (id) ON DELETE CASCADE,
    slug TEXT NOT NULL,
    title TEXT NOT NULL,
    position BIGINT NOT NULL,
    opens_at BIGINT,
    closes_at BIGINT,
    frozen_at BIGINT,
    per_day BIGINT NOT NULL,
    in_total BIGINT NOT NULL,
    board TEXT NOT NULL CHECK (board IN ('public', 'registered', 'own', 'hidden')),
    reveal_at BIGINT,
    decimals BIGINT NOT NULL,
    metrics TEXT NOT NULL,
    -- Numbers made of their measures, as JSON.
    derive TEXT NOT NULL DEFAULT '[]',
    -- The measures that machines of hosts give, as JSON.
    given TEXT NOT NULL DEFAULT '[]',
    -- The column of the references that groups images; empty if there are no groups.
    group_by TEXT NOT NULL DEFAULT '',
    main_set TEXT NOT NULL,
    main_metric TEXT NOT NULL,
    -- The rule that ranks over several measures; empty if main_metric ranks.
    rank_by TEXT NOT NULL DEFAULT '',
    human BIGINT NOT NULL,
    -- The score set that boards show; NULL until the first reference set is ready.
    score_set TEXT,
    created_at BIGINT NOT NULL,
    -- How often its rows of `standing` were written.
    settled BIGINT NOT NULL DEFAULT 0,
    -- The keys of the measures that a board shows unless a visitor chooses others, as JSON; none for all.
    board_columns TEXT NOT NULL DEFAULT '[]',
    -- What teams are asked about their methods, as JSON.
    columns TEXT NOT NULL DEFAULT '[]',
    -- What teams see of their own submissions image by image.
    per_image TEXT NOT NULL DEFAULT 'none' CHECK (per_image IN ('none', 'scores', 'explained')),
    -- The address of the picture of an image, with {id} in the place of the id; empty if pictures are not shown.
    pictures TEXT NOT NULL DEFAULT '',
    -- A file with vectors of the pictures of a phase, for metrics such as CLIPScore: the hash of the file, and its name.
    vectors_hash TEXT,
    vectors_file TEXT NOT NULL DEFAULT '',
    -- A metric that is a program, with its description: the hash of the archive, and its name.
    program_hash TEXT,
    program_file TEXT NOT NULL DEFAULT '',
    -- The share of images in the public half, which the seed draws; NULL if a file lists them, or there are no halves.
    public_share DOUBLE PRECISION,
    public_seed TEXT NOT NULL DEFAULT '',
    -- The list of images in the public half: the hash of the file, and its name.
    public_ids_hash TEXT,
    public_ids_file TEXT NOT NULL DEFAULT '',
    -- When scores of the private half are shown; NULL for the end of the phase.
    private_at BIGINT,
    -- What stands for a team on the private half, and how many submissions it may choose.
    final_rule TEXT NOT NULL DEFAULT 'best' CHECK (final_rule IN ('best', 'last', 'chosen')),
    most_chosen BIGINT NOT NULL DEFAULT 2,
    -- The slug of the earlier phase whose first teams alone may submit, empty if all may; how many of them, 0 for all;
    -- whether what stands for them is taken over; and when it was decided who they are.
    from_phase TEXT NOT NULL DEFAULT '',
    top BIGINT NOT NULL DEFAULT 0,
    carry BIGINT NOT NULL DEFAULT 0,
    ranked_at BIGINT,
    UNIQUE (benchmark, slug)
);

-- Files for those who take part: a starting kit, an example submission, public data.
CREATE TABLE phase_file (
    phase TEXT NOT NULL REFERENCES phase (id) ON DELETE CASCADE,
    -- The name under which it is downloaded.
    name TEXT NOT NULL,
    title TEXT NOT NULL,
    position BIGINT NOT NULL,
    blob TEXT NOT NULL,
    size BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (phase, name)
);

CREATE TABLE reference_set (
    id TEXT PRIMARY KEY,
    phase TEXT NOT NULL REFERENCES phase (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    -- The half of the images that it has; NULL for all.
    half TEXT CHECK (half IN ('public', 'private')),
    position BIGINT NOT NULL,
    language TEXT NOT NULL,
    tokenizer TEXT,
    -- The file of references as it was given, and the prepared file, both among the hidden blobs.
    source_hash TEXT NOT NULL,
    prepared_hash TEXT,
    ids_hash TEXT,
    -- The ids of the images to keep, as a JSON array; NULL for all.
    images TEXT,
    state TEXT NOT NULL CHECK (state IN ('preparing', 'ready', 'failed')),
    reason TEXT,
    n_images BIGINT,
    n_references BIGINT,
    fewest BIGINT,
    -- The measures, as JSON.
    measures TEXT,
    created_at BIGINT NOT NULL,
    -- The names under which the files of references and of their list of images came.
    file TEXT NOT NULL DEFAULT '',
    images_file TEXT NOT NULL DEFAULT '',
    -- What the reader noticed about the file of references, as a JSON array of sentences.
    notices TEXT,
    UNIQUE (phase, name)
);

-- The last dry run of each phase, which counts nowhere. The report and the scores are JSON; the file is needed until it is
-- scored.
CREATE TABLE dry_run (
    phase TEXT PRIMARY KEY REFERENCES phase (id) ON DELETE CASCADE,
    id TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('queued', 'scored', 'failed')),
    file TEXT NOT NULL,
    blob TEXT,
    report TEXT NOT NULL,
    scores TEXT NOT NULL,
    reason TEXT,
    created_at BIGINT NOT NULL,
    finished_at BIGINT
);

-- What hosts tell those who take part in a benchmark.
CREATE TABLE announcement (
    id TEXT PRIMARY KEY,
    benchmark TEXT NOT NULL REFERENCES benchmark (id) ON DELETE CASCADE,
    -- The phase for whose participants it is; NULL for those of all phases.
    phase TEXT REFERENCES phase (id) ON DELETE CASCADE,
    -- The team for which it is, and which alone sees it; NULL for all.
    team TEXT,
    title TEXT NOT NULL,
    text TEXT NOT NULL,
    is_mailed BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    edited_at BIGINT,
    retracted_at BIGINT
);
CREATE INDEX announcement_benchmark ON announcement (benchmark, id);

-- Where a host wants to be told of submissions. The secret signs messages, so it cannot be stored as a hash.
CREATE TABLE webhook (
    id TEXT PRIMARY KEY,
    benchmark TEXT NOT NULL REFERENCES benchmark (id) ON DELETE CASCADE,
    url TEXT NOT NULL,
    secret TEXT NOT NULL,
    created_by TEXT NOT NULL,
    created_at BIGINT NOT NULL
);
CREATE INDEX webhook_benchmark ON webhook (benchmark);
