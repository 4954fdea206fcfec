//! Machines of hosts: they claim submissions, and give their scores.

use serde::Deserialize;
use serde_json::Value;

use super::error::{self, Error};
use super::{Phase, Server};
use crate::{Claim, GivenScores, NewClaim};

impl Server {
    /// Claims the next submission to a phase for some minutes; `None` if none waits.
    pub fn claim(&self, phase: &Phase, minutes: u32) -> Result<Option<Claim>, Error> {
        let new = NewClaim { minutes: Some(minutes) };
        let claim = self.0.post_json(&format!("/api/v1/host/phases/{}/claims", phase.id), &new)?;
        Option::<Claim>::deserialize(claim).map_err(|_| error::unexpected())
    }

    /// The captions of a claimed submission, as a list of results.
    pub fn captions(&self, claim: &Claim) -> Result<Vec<u8>, Error> {
        let list: Value = self.0.get(&format!("/api/v1/host/claims/{}/captions", claim.claim))?;
        Ok(list.to_string().into_bytes())
    }

    /// Gives the scores of a claimed submission.
    pub fn give(&self, claim: &Claim, scores: &GivenScores) -> Result<(), Error> {
        self.0.post_json(&format!("/api/v1/host/claims/{}/scores", claim.claim), scores).map(drop)
    }
}
