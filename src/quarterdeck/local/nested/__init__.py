"""The settings of release 1.11, which tests of clients have to get along with: nested, changed by differences."""
