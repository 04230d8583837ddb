import { afterAll } from "vitest";
import { endAll } from "../ending.ts";

// Runs before each test file, also if files share a worker and imports.
afterAll(endAll);
