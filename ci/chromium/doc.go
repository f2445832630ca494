// Package chromium opens pages in headless Chromium and watches what they do. Its own tests look at
// all pages of the tool, as the tool writes and serves them, and take the pictures of the
// documentation. All of it needs the build tag browser.
//
// Promise: an error that a page has, and every request to anything but itself, fails the test that
// opened it. Without Chromium the tests are skipped.
//
// Refusal: it holds nothing to a time: how long a page took is logged.
package chromium
