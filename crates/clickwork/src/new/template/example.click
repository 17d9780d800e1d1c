// Counts letters in ten packets.
//
//     clickwork run example.click

require(package @PACKAGE@);

InfiniteSource(DATA "To be, or not to be: that is the question.", LIMIT 10, STOP true)
    -> letters :: @CLASS@(aeiou)
    -> Discard;

DriverManager(wait_stop, print "$(letters.count) letters in 10 packets");
