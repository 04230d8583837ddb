/** This process may not write any more: another one leads, or may do so at any moment. */
export class LeadershipLost extends Error {
  constructor() {
    super("the lease was lost: another operator leads");
  }
}
