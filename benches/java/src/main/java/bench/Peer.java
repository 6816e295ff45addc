package bench;

/** Seals and opens a payload, and checks all that it bound. */
interface Peer {
  /** Names it in the tables. */
  String name();

  /** Makes a token. */
  String seal(String payload) throws Exception;

  /** Returns the payload of a token. */
  String open(String token) throws Exception;
}
