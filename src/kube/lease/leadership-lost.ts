/** This process must not write any more: another one leads, or may become the leader at any moment. */
export class LeadershipLost extends Error {
  constructor() {
    super("leader election lost: another operator is the leader");
  }
}
