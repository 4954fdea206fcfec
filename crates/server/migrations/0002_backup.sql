-- What is done once a day, by whichever process is first.
CREATE TABLE daily (
    task TEXT PRIMARY KEY,
    day TEXT NOT NULL
);
