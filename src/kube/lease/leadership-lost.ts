/** This process may not write any more: another one leads, or may do so at any moment. */
export class LeadershipLost extends Error {
  constructor() {
    super("leader election lost: another operator is the leader");
  }
}
