//! The cache of SPICE's parses: opened before the work, saved after it.

use anyhow::Result;
use capeval::choice::Notice;
use capeval::metric::Resources;
use capeval_files::SpiceCache;
use indicatif::DecimalBytes;

use crate::voice;

/// The cache, if one is requested.
pub struct Parses(Option<SpiceCache>);

impl Parses {
    /// Opens the file `path`, if there is one, and adds its parses to `resources`.
    ///
    /// # Errors
    /// When no metric uses them, or the file cannot be read or written, or holds anything else.
    pub fn open(path: Option<&str>, resources: &mut Resources) -> Result<Self> {
        Ok(Self(path.map(|path| SpiceCache::open(path, resources)).transpose()?))
    }

    /// Why the file is begun anew, for commands without a report that would say so.
    pub fn notices(&self) -> &[Notice] {
        self.0.as_ref().and_then(|cache| cache.parses().notice()).map_or(&[], std::slice::from_ref)
    }

    /// Writes the captions that were added, and says on standard error how many.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn save(self) -> Result<()> {
        let Some(cache) = self.0 else { return Ok(()) };
        let (path, n) = (cache.path().to_owned(), cache.parses().n_added());
        if let Some(size) = cache.save()? {
            voice::say(&format!("wrote {path}, {}: parses of {n} new captions", DecimalBytes(size)));
        }
        Ok(())
    }
}
