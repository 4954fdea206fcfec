//! What holds between the rows of collections.

use capeval_site::invariants::{Invariant, REPORT};

use crate::slots;

pub const ALL: &[Invariant] = &[
    Invariant::of(
        "the places of a picture are those that its captions and reservations take",
        slots::MISCOUNTED,
        "change the number of captions on the page of the collection's settings and change it back",
    ),
    Invariant::of(
        "a picture is complete if it has all captions that are wanted, and is offered as long as people may see it",
        slots::MISPLACED,
        REPORT,
    ),
    Invariant::of(
        "a caption counts the ratings that it has",
        "SELECT 'caption ' || id || ': ' || CAST(ratings AS TEXT) FROM caption WHERE ratings <> \
         (SELECT COUNT(*) FROM rating WHERE rating.caption = caption.id AND weight > 0)",
        "a moderator can decide about it",
    ),
    Invariant::of(
        "a picture that people may see has its files",
        "SELECT 'picture ' || id || ' is ' || state FROM image WHERE state IN ('pending', 'open', 'complete', 'quarantined') \
         AND (blob IS NULL OR thumb IS NULL)",
        "a moderator can reject it",
    ),
    Invariant::of(
        "what is being processed has a job",
        "SELECT 'picture ' || id FROM image WHERE state = 'processing' AND NOT EXISTS (SELECT 1 FROM job \
         WHERE job.subject = image.id AND kind = 'picture' AND job.state IN ('queued', 'running')) \
         UNION ALL SELECT 'release ' || id FROM release WHERE state = 'preparing' AND NOT EXISTS (SELECT 1 FROM job \
         WHERE job.subject = release.id AND kind = 'release' AND job.state IN ('queued', 'running')) \
         UNION ALL SELECT 'import ' || id FROM import WHERE state = 'removing' AND NOT EXISTS (SELECT 1 FROM job \
         WHERE job.subject = import.id AND kind = 'import-removal' AND job.state IN ('queued', 'running'))",
        REPORT,
    ),
    Invariant::of(
        "a release that is ready has files, and all pictures and captions that it counts",
        "SELECT 'release ' || id FROM release WHERE state = 'ready' AND (NOT EXISTS (SELECT 1 FROM release_part \
         WHERE release_part.release = release.id) OR images <> (SELECT COUNT(*) FROM release_item \
         WHERE release_item.release = release.id AND kind = 'image') OR captions <> (SELECT COUNT(*) FROM release_item \
         WHERE release_item.release = release.id AND kind = 'caption'))",
        "make a new release",
    ),
    Invariant::of(
        "pictures and captions keep the numbers that a release gave them",
        "SELECT 'release ' || release || ', ' || release_item.kind || ' ' || release_item.subject FROM release_item \
         JOIN release ON release.id = release_item.release LEFT JOIN coco_id ON coco_id.subject = release_item.subject \
         WHERE release.state <> 'failed' AND (coco_id.number IS NULL OR coco_id.number <> release_item.number)",
        "make a new release",
    ),
    Invariant::of(
        "what was reported has a state to go back to",
        "SELECT 'caption ' || id FROM caption WHERE state = 'quarantined' AND state_before IS NULL",
        "a moderator can decide about it",
    ),
];
