//! Verifies signatures of tokens with ring, the library that TLS uses here too.

use jsonwebtoken::crypto::{CryptoProvider, JwtVerifier, KeyUtils};
use jsonwebtoken::errors::{ErrorKind, Result};
use jsonwebtoken::signature::{Error, Verifier};
use jsonwebtoken::{Algorithm, DecodingKey, DecodingKeyKind};
use ring::signature::{
    self as rules, RsaParameters, RsaPublicKeyComponents, UnparsedPublicKey, VerificationAlgorithm,
};

/// The verifier of tokens. It signs none, and takes no keys that are secrets.
static RING: CryptoProvider = CryptoProvider {
    signer_factory: |_, _| Err(ErrorKind::UnsupportedAlgorithm.into()),
    verifier_factory: |algorithm, key| match kind(*algorithm) {
        Some(_) => Ok(Box::new(Check { algorithm: *algorithm, key: key.clone() })),
        None => Err(ErrorKind::UnsupportedAlgorithm.into()),
    },
    key_utils: KeyUtils::new_unimplemented(),
};

/// Says once in a process what verifies tokens.
pub(super) fn install() -> Result<()> {
    // Another call was first.
    let _ = RING.install_default();
    Ok(())
}

/// The way to verify signatures of an algorithm.
enum Kind {
    Rsa(&'static RsaParameters),
    Other(&'static dyn VerificationAlgorithm),
}

fn kind(algorithm: Algorithm) -> Option<Kind> {
    Some(match algorithm {
        Algorithm::RS256 => Kind::Rsa(&rules::RSA_PKCS1_2048_8192_SHA256),
        Algorithm::RS384 => Kind::Rsa(&rules::RSA_PKCS1_2048_8192_SHA384),
        Algorithm::RS512 => Kind::Rsa(&rules::RSA_PKCS1_2048_8192_SHA512),
        Algorithm::PS256 => Kind::Rsa(&rules::RSA_PSS_2048_8192_SHA256),
        Algorithm::PS384 => Kind::Rsa(&rules::RSA_PSS_2048_8192_SHA384),
        Algorithm::PS512 => Kind::Rsa(&rules::RSA_PSS_2048_8192_SHA512),
        Algorithm::ES256 => Kind::Other(&rules::ECDSA_P256_SHA256_FIXED),
        Algorithm::ES384 => Kind::Other(&rules::ECDSA_P384_SHA384_FIXED),
        Algorithm::EdDSA => Kind::Other(&rules::ED25519),
        _ => return None,
    })
}

/// A check of signatures by one key.
struct Check {
    algorithm: Algorithm,
    key: DecodingKey,
}

impl Verifier<Vec<u8>> for Check {
    fn verify(&self, message: &[u8], signature: &Vec<u8>) -> std::result::Result<(), Error> {
        let checked = match (kind(self.algorithm), self.key.kind()) {
            (Some(Kind::Rsa(parameters)), DecodingKeyKind::RsaModulusExponent { n, e }) => {
                RsaPublicKeyComponents { n, e }.verify(parameters, message, signature)
            }
            (Some(Kind::Other(algorithm)), DecodingKeyKind::SecretOrDer(bytes)) => {
                UnparsedPublicKey::new(algorithm, bytes).verify(message, signature)
            }
            _ => return Err(Error::new()),
        };
        checked.map_err(|_| Error::new())
    }
}

impl JwtVerifier for Check {
    fn algorithm(&self) -> Algorithm {
        self.algorithm
    }
}
