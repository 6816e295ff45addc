package bench;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.google.crypto.tink.Aead;
import com.google.crypto.tink.KeysetHandle;
import com.google.crypto.tink.RegistryConfiguration;
import com.google.crypto.tink.aead.AeadConfig;
import com.google.crypto.tink.aead.PredefinedAeadParameters;
import com.nimbusds.jose.EncryptionMethod;
import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JWEAlgorithm;
import com.nimbusds.jose.JWEHeader;
import com.nimbusds.jose.crypto.DirectDecrypter;
import com.nimbusds.jose.crypto.DirectEncrypter;
import com.nimbusds.jwt.EncryptedJWT;
import com.nimbusds.jwt.JWTClaimsSet;
import io.jsonwebtoken.Claims;
import io.jsonwebtoken.JwtParser;
import io.jsonwebtoken.Jwts;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.time.Instant;
import java.util.Base64;
import java.util.Date;
import java.util.List;
import javax.crypto.SecretKey;

/** What others do for the same job. Each binds the user, the audience, the time and the request. */
final class Peers {
  private Peers() {}

  static List<Peer> all() throws GeneralSecurityException, JOSEException {
    return List.of(new Nimbus(), new Jjwt(), new Tink());
  }

  private static byte[] random(int size) {
    byte[] drawn = new byte[size];
    new SecureRandom().nextBytes(drawn);
    return drawn;
  }

  private static void check(boolean bound) {
    if (!bound) {
      throw new IllegalArgumentException("bound to something else");
    }
  }

  /** A JWE, encrypted directly by AES-256-GCM. */
  private static final class Nimbus implements Peer {
    private final JWEHeader header = new JWEHeader(JWEAlgorithm.DIR, EncryptionMethod.A256GCM);
    private final DirectEncrypter encrypter;
    private final DirectDecrypter decrypter;

    Nimbus() throws JOSEException {
      byte[] key = random(32);
      encrypter = new DirectEncrypter(key);
      decrypter = new DirectDecrypter(key);
    }

    @Override
    public String name() {
      return "nimbus";
    }

    @Override
    public String seal(String payload) throws Exception {
      Instant now = Instant.now();
      JWTClaimsSet claims =
          new JWTClaimsSet.Builder()
              .issuer(Ours.ISSUER)
              .subject(Ours.SUBJECT)
              .audience(Ours.AUDIENCE)
              .issueTime(Date.from(now))
              .expirationTime(Date.from(now.plus(Ours.TTL)))
              .claim("client_id", Ours.CLIENT)
              .claim("ctx", Ours.CONTEXT)
              .claim("p", payload)
              .build();
      EncryptedJWT token = new EncryptedJWT(header, claims);
      token.encrypt(encrypter);
      return token.serialize();
    }

    @Override
    public String open(String token) throws Exception {
      EncryptedJWT found = EncryptedJWT.parse(token);
      found.decrypt(decrypter);
      JWTClaimsSet claims = found.getJWTClaimsSet();
      check(
          claims.getIssuer().equals(Ours.ISSUER)
              && claims.getSubject().equals(Ours.SUBJECT)
              && claims.getAudience().contains(Ours.AUDIENCE)
              && claims.getExpirationTime().toInstant().isAfter(Instant.now())
              && Ours.CLIENT.equals(claims.getStringClaim("client_id"))
              && Ours.CONTEXT.equals(claims.getStringClaim("ctx")));
      return claims.getStringClaim("p");
    }
  }

  /** HS256: signed, readable. */
  private static final class Jjwt implements Peer {
    private final SecretKey key = Jwts.SIG.HS256.key().build();
    private final JwtParser parser =
        Jwts.parser()
            .verifyWith(key)
            .requireIssuer(Ours.ISSUER)
            .requireSubject(Ours.SUBJECT)
            .requireAudience(Ours.AUDIENCE)
            .require("client_id", Ours.CLIENT)
            .require("ctx", Ours.CONTEXT)
            .build();

    @Override
    public String name() {
      return "jjwt";
    }

    @Override
    public String seal(String payload) {
      Instant now = Instant.now();
      return Jwts.builder()
          .issuer(Ours.ISSUER)
          .subject(Ours.SUBJECT)
          .audience()
          .add(Ours.AUDIENCE)
          .and()
          .issuedAt(Date.from(now))
          .expiration(Date.from(now.plus(Ours.TTL)))
          .claim("client_id", Ours.CLIENT)
          .claim("ctx", Ours.CONTEXT)
          .claim("p", payload)
          .signWith(key)
          .compact();
    }

    @Override
    public String open(String token) {
      Claims claims = parser.parseSignedClaims(token).getPayload();
      return claims.get("p", String.class);
    }
  }

  /**
   * Its XChaCha20-Poly1305, with base64. It has no time: this one puts the end before the payload.
   */
  private static final class Tink implements Peer {
    private final Aead aead;
    private final byte[] bound =
        String.join("\0", Ours.AUDIENCE, Ours.ISSUER, Ours.CLIENT, Ours.SUBJECT, Ours.CONTEXT)
            .getBytes(UTF_8);

    Tink() throws GeneralSecurityException {
      AeadConfig.register();
      aead =
          KeysetHandle.generateNew(PredefinedAeadParameters.XCHACHA20_POLY1305)
              .getPrimitive(RegistryConfiguration.get(), Aead.class);
    }

    @Override
    public String name() {
      return "tink";
    }

    @Override
    public String seal(String payload) throws GeneralSecurityException {
      long end = Instant.now().plus(Ours.TTL).getEpochSecond();
      byte[] sealed = aead.encrypt((end + " " + payload).getBytes(UTF_8), bound);
      return Base64.getUrlEncoder().withoutPadding().encodeToString(sealed);
    }

    @Override
    public String open(String token) throws GeneralSecurityException {
      String opened = new String(aead.decrypt(Base64.getUrlDecoder().decode(token), bound), UTF_8);
      int at = opened.indexOf(' ');
      check(Long.parseLong(opened.substring(0, at)) > Instant.now().getEpochSecond());
      return opened.substring(at + 1);
    }
  }
}
